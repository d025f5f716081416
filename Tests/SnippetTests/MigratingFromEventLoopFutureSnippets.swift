// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 165)
private struct User: Sendable { let name: String }
private enum StoreError: Error { case unknown }
private enum store {
    static func load(_ id: Int, completion: @escaping @Sendable (User?, (any Error)?) -> Void) {
        completion(id == 1 ? User(name: "Ada") : nil, nil)
    }
}
@Sendable private func greeting(for user: User) throws -> String { "Hello, \(user.name)" }
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromEventLoopFutureSnippets {
    func `Name by name`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 86)
        func rows<T: Sendable>(_ value: T, _ tasks: [Task<Int>], _ queue: DispatchQueue) async throws {
            let promise = Task<T>.Promise()
            let task = Task(promise)
            do { let result: Task<T>.Result = .success(value); promise.fill(with: result) }
            promise.succeed(with: value)
            promise.fail(with: CancellationError())
            do { let promise = Task<Void>.Promise(); promise.succeed() }
            task.upon(.immediate) { promise.fill(with: $0) }
            task.uponSuccess(on: .immediate) { promise.succeed(with: $0) }
            task.uponFailure(on: .immediate) { promise.fail(with: $0) }
            task.upon(queue) { print($0) }
            _ = (Task.success(value), Task<T>.failure(CancellationError()))
            _ = Task.catching { value }
            _ = Task.async(on: queue) { value }
            _ = Task.success(()).flatMap(on: queue) { task }
            _ = Task.success(()).delay(for: .seconds(1)).map { value }
            _ = Task.success(()).delay(for: .seconds(1)).flatMap { task }
            let loop = Task { while true { try await Task.sleep(for: .seconds(1)) } }
            loop.cancel()
            Task { print(value) }
            _ = task.flatMap { Task.success($0) }
            do {
                @Sendable func result(of value: T) -> Result<T, any Error> { .success(value) }
                _ = task.map { try result(of: $0).get() }
            }
            _ = task.fallback { Task.failure($0) }
            _ = task.recover { throw $0 }
            _ = task.map(on: queue) { $0 }
            _ = task.always { result in assert((try? result.get()) != nil) }
            let (a, b) = (task, task)
            _ = zip(a, b)
            _ = a.map { ($0, value) }
            _ = (tasks.allSucceeded(), tasks.allSucceeded().ignored(), tasks.allFilled(), tasks.allFilled().ignored())
            _ = tasks.allSucceeded().map { $0.reduce(0, +) }
            do { let task = Task.success(Int?.none); _ = task.map { $0 ?? 0 } }
            _ = try await task.value
        }
        func waiting(_ task: Task<Int>) -> Result<Int, any Error>? { task.wait() }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 129)
        let additions = [Task.success(2), Task.success(3)]
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 132)



        let sum = additions.reduce(Task.success(1)) { sum, addition in
            sum.flatMap { sum in addition.map { sum + $0 } }
        }
        print(try await sum.value)  // 6
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 141)
        #expect(try await sum.value == 6)
#sourceLocation()
    }

    @Test func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 175)
        func user(_ id: Int) -> Task<User> {
            let promise = Task<User>.Promise()
            store.load(id) { user, error in
                if let user { promise.succeed(with: user) } else { promise.fail(with: error ?? StoreError.unknown) }
            }
            return Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        }

        let text = user(1)
            .map { try greeting(for: $0) }
            .recover { error in
                if error.isCancellation { throw error }
                return "Hello, stranger"
            }
        text.uponSuccess(on: .main) { print($0) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 192)
        #expect(try await text.value == "Hello, Ada")
#sourceLocation()
    }
}
