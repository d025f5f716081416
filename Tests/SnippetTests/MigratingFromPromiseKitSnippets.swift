// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 202)
private struct User: Sendable { let name: String }
@MainActor private final class View { var image = ""; var isSpinning = true }
private func fetchUser(id: Int) -> Task<User> { .success(User(name: "Ada")) }
private func fetchAvatar(of user: User) -> Task<String> { .success("a picture of \(user.name)") }
@MainActor private func show(_ error: any Error) { print(error) }
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromPromiseKitSnippets {
    @Test func `Differences`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 20)






        let task = Task<Int>.failure(CancellationError())
        task.uponFailure(on: .main) { error in
            if error.isCancellation { return }
            print("show an alert: \(error.localizedDescription)")
        }
        let recovered = task.recover { error in
            if error.isCancellation { throw error }
            return 0
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 37)
        #expect(recovered.peek().map { (try? $0.get()) == nil } == true)
#sourceLocation()
    }

    func `Name by name`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 121)
        func rows<T: Sendable & Comparable>(_ value: T, _ tasks: [Task<T>], _ elements: [Int], _ url: URL) async throws {
            let promise = Task<T>.Promise()
            let task: Task<T> = Task(promise)
            let deferred = Deferred<T>()
            let future: Future<T> = deferred.future
            let futures = [future]
            func end(_ value: T?, _ error: any Error) {
                if let value { promise.succeed(with: value) } else { promise.fail(with: error) }
            }
            promise.fill(with: Result { value })
            _ = (Task.success(value), Task<T>.failure(CancellationError()), Task(succeedsFrom: future))
            @Sendable func start() throws -> Task<T> { task }
            _ = Task.catching { try start() }.flatMap { $0 }
            _ = task.flatMap { Task.success($0) }
            _ = task.map { "\($0)" }
            _ = task.map(on: .mainActor) { print($0) }
            _ = task.map { value -> T in print(value); return value }
            task.uponSuccess(on: .mainActor) { print($0) }
            task.uponFailure(on: .mainActor) { print($0) }
            task.upon(.mainActor) { _ in print("ended") }
            task.upon(.immediate) { print($0) }
            _ = task.always(on: .mainActor) { result in print(result) }
            _ = task.always(on: .mainActor) { _ in print("ended") }
            @Sendable func close() -> Future<Void> { Future(value: ()) }
            _ = task.always { _ in await close().value }
            _ = task.fallback { Task.failure($0) }
            _ = task.recover { error in if error.isCancellation { throw error }; return value }
            _ = task.ignored()
            let all = tasks.allSucceeded()
            _ = all.map { $0.map { "\($0)" } }
            _ = (all.map { $0.compactMap { $0 } }, all.map { $0.flatMap { [$0] } })
            _ = all.map { $0.filter { $0 > value } }
            _ = (all.map { $0.sorted() }, all.map { $0.first }, all.map { $0.last })
            _ = all.flatMap { $0.map { Task.success([$0]) }.allSucceeded() }.map { $0.flatMap { $0 } }
            _ = all.flatMap { $0.mapTasks(maxConcurrent: 4) { Task.success($0) } }
            let (a, b) = (task, Task.success(1))
            _ = zip(a, b)
            _ = elements.mapTasks(maxConcurrent: 4) { Task.success($0) }
            do {
                @Sendable func start(_ element: Int) -> Task<Int> { .success(element) }
                let results: Task<[Result<Int, any Error>]> =
                    elements.mapTasks(maxConcurrent: 4) { start($0).map { .success($0) }.recover { .failure($0) } }
                _ = results
            }
            _ = (tasks.allFilled(), tasks.firstCompleted(), tasks.firstSucceeded(), futures.allFilled(), futures.firstFilled())
            _ = Future(value: ()).delay(for: .seconds(1))
            _ = Task.async(on: .global()) { value }
            _ = URLSession.shared.beginDataTask(with: url)
            let result: Result? = task.peek()
            if case .failure? = result { print(!task.isFilled, task.isFilled, (try? task.peek()?.get()) != nil) }
            switch task.peek() { case .success?, .failure?, nil: break }
            func run(on executor: some Executor) { _ = (task.map(on: executor) { $0 }, task.map(on: .immediate) { $0 }) }
            _ = ((any CancellationIndicating).self, CircularTask.self, AllTasksFailed.self)
            _ = try await task.value
        }
        func waiting(_ task: Task<Int>) -> Result<Int, any Error>? { task.wait() }
#sourceLocation()
    }

    @Test @MainActor func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 210)
        let view = View()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 213)
        let avatar = fetchUser(id: 1).flatMap { fetchAvatar(of: $0) }
        avatar.uponSuccess(on: .mainActor) { view.image = $0 }
        avatar.uponFailure(on: .mainActor) { show($0) }
        avatar.upon(.mainActor) { _ in view.isSpinning = false }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 219)
        let end = Deferred<Void>()
        avatar.upon(.mainActor) { _ in end.fill() }
        await end.value
        #expect(view.image == "a picture of Ada" && !view.isSpinning)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 228)
        view.isSpinning = true
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 231)
        do {
            view.image = try await avatar.get()
        } catch {
            show(error)
        }
        view.isSpinning = false
#sourceLocation()
    }
}
