// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromCombine.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 141)
@MainActor private final class List {
    let isShown = Deferred<Void>()
    var items: [String] = [] { didSet { isShown.fill() } }
}
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromCombineSnippets {
    func `Name by name`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 83)
        func rows<T: Decodable & Sendable>(_ value: T, _ tasks: [Task<T>], _ elements: [Int], _ url: URL) async throws {
            let (promise, decoder, latest) = (Task<T>.Promise(), JSONDecoder(), LatestTask<T>())
            let task: Task<T> = Task(promise)
            let future: Future<T> = Future(value: value)
            _ = (Task.success(value), Task<T>.failure(CancellationError()), Task<T>.never)
            let registration: Registration = task.uponSuccess(on: .main) { print($0) }
            registration.cancel()
            task.upon(.main) { print($0) }
            task.uponSuccess(on: .mainActor) { print($0) }
            _ = task.map { "\($0)" }
            _ = task.flatMap { Task.success($0) }
            _ = Task.success(Data()).map { try decoder.decode(T.self, from: $0) }
            _ = task.fallback { Task.failure($0) }
            _ = task.recover { _ in value }
            _ = task.mapError { $0 }
            _ = task.always { _ in print("ended") }
            task.uponCancel { print("cancelled") }
            _ = zip(task, Task(succeedsFrom: future))
            _ = (tasks.allSucceeded(), tasks.firstCompleted(), tasks.firstSucceeded())
            _ = elements.mapTasks(maxConcurrent: 4) { Task.success($0) }
            _ = (task.delay(for: .seconds(1)), task.timeout(after: .seconds(1)), task.shared())
            _ = Task.retry(RetryPolicy(attempts: 3)) { _ in task }
            latest.start(after: .seconds(1), on: .main, { task }, deliver: { _ in })
            latest.start(task, on: .main, deliver: { _ in })
            _ = (Deferred<T>(), try await task.value, task.progressUpdates)
            _ = URLSession.shared.beginDataTask(with: url)
            let publisher = (values: AsyncThrowingStream<T, any Error> { $0.finish() }, name: "stands for one of Combine's")
            _ = Task { try await publisher.values.first { _ in true } }
        }
        #if canImport(Combine)
        _ = (Task.success(1).publisher, Future(value: 1).publisher)
        #endif
#sourceLocation()
    }

    @Test @MainActor func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 148)
        let server = try LoopbackServer { _ in .json(#"["swift"]"#) }
        defer { server.stop() }
        let list = List()
        @Sendable func url(for text: String) -> URL { server.url("/?q=\(text)") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 154)






        let search = LatestTask<[String]>()

        func textChanged(_ text: String) {
            search.start(after: .milliseconds(300), on: .mainActor) {
                URLSession.shared.beginDataTask(with: url(for: text))
                    .map { data, _ in try JSONDecoder().decode([String].self, from: data) }
            } deliver: { result in
                list.items = (try? result.get()) ?? []
            }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 172)
        textChanged("swift")
        await list.isShown.value
        #expect(list.items == ["swift"])
#sourceLocation()
    }
}
