// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/Recipes.md.

import Deferred
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 118)
final class TaskCache: Sendable {
    private let tasks = Mutex<[String: Task<Data>]>([:])
    private let load: @Sendable (String) -> Task<Data>

    init(load: @escaping @Sendable (String) -> Task<Data>) {
        self.load = load
    }

    func data(for key: String) -> Task<Data> {
        let promise = Task<Data>.Promise()
        let new = Task(promise)
        let task = tasks.withLock { tasks in
            // A task that was cancelled or has failed is of no use to others.
            if let task = tasks[key], !task.isCancelled, !task.hasFailed { return task }
            tasks[key] = new
            return new
        }
        // Outside of the lock, since loading may call anything.
        if task == new {
            let loading = load(key)
            new.uponCancel { loading.cancel() }
            loading.upon(.immediate) { promise.fill(with: $0) }
        }
        return task.shared()
    }
}

extension Task {
    fileprivate var hasFailed: Bool {
        if case .failure = peek() { true } else { false }
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 171)
private final class Scanner: Sendable {
    static let shared = Scanner()
    func scan(_ completion: @escaping @Sendable (String?, (any Error)?) -> Void) { completion("4006381333931", nil) }
    func stop() {}
}
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RecipesSnippets {
    @Test @MainActor func `Debounce`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 18)
        @Sendable func save(_ text: String) -> Task<Int> { .success(text.count) }
        let saved = Deferred<Int>()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 22)




        let latest = LatestTask<Int>()

        func textChanged(_ text: String) {
            latest.start(after: .milliseconds(50), on: .mainActor) {
                save(text)
            } deliver: { result in
                if let count = try? result.get() { saved.fill(with: count) }
            }
        }

        textChanged("Hel")
        textChanged("Hello")
        print(await saved.value)  // 5
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 41)
        #expect(saved.peek() == 5)
#sourceLocation()
    }

    @Test func `Poll`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 50)
        let left = Mutex(3)
        @Sendable func job() -> Task<String?> {
            .success(left.withLock { left in left -= 1; return left == 0 ? "done" : nil })
        }
        let clock = ContinuousClock()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 57)
        @Sendable func poll(every pause: Duration) -> Task<String> {
            job().flatMap { answer in
                if let answer { return .success(answer) }
                return Task.success(()).delay(for: pause, clock: clock).flatMap { poll(every: pause) }
            }
        }

        let answer = poll(every: .milliseconds(1)).timeout(after: .seconds(60), clock: clock)
        print(try await answer.value)  // done
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 68)
        #expect(try await answer.value == "done")
#sourceLocation()
    }

    @Test func `A batch with progress`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 78)
        @Sendable func resize(_ name: String) -> Task<Int> { .success(name.count) }
        let names = ["moon.png", "sun.png", "star.png"]
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 82)
        let batch = names.mapTasks(maxConcurrent: 2) { name in resize(name) }
        let registration = batch.uponProgress(on: .main) { print($0) }  // 66 %, 2 of 3
        let sizes = try await batch.value
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 87)
        registration.cancel()
        #expect(sizes == [8, 7, 8])
#sourceLocation()
    }

    @Test func `A batch with progress, 2`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 95)
        @Sendable func resize(_ name: String) -> Task<Int> { name == "sun.png" ? .failure(CocoaError(.fileReadUnknown)) : .success(1) }
        let names = ["moon.png", "sun.png", "star.png"]
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 99)
        let batch = names.mapTasks(maxConcurrent: 2) { name in
            resize(name).map { Result<Int, any Error>.success($0) }.recover { error in
                if error.isCancellation { throw error }
                return .failure(error)
            }
        }
        let failed = try await batch.value.count { (try? $0.get()) == nil }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 108)
        #expect(failed == 1)
#sourceLocation()
    }

    @Test func `Cache a task`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 152)
        let loads = Mutex(0)
        let pending = Task<Data>.Promise()
        let cache = TaskCache { _ in
            loads.withLock { $0 += 1 }
            return Task(pending)
        }
        let (one, other) = (cache.data(for: "a"), cache.data(for: "a"))
        one.cancel()
        pending.succeed(with: Data("hello".utf8))
        #expect(try await other.value == Data("hello".utf8))
        #expect(try await cache.data(for: "a").value.count == 5)
        #expect(loads.withLock { $0 } == 1)
#sourceLocation()
    }

    @Test func `Adapt a callback interface`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 178)
        let scanner = Scanner.shared
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 181)
        func scan() -> Task<String> {
            let promise = Task<String>.Promise()
            scanner.scan { code, error in
                if let code {
                    promise.succeed(with: code)
                } else {
                    promise.fail(with: error ?? CocoaError(.featureUnsupported))
                }
            }
            return Task(promise, uponCancel: { promise in
                scanner.stop()
                promise.fail(with: CancellationError())
            })
        }
        print(try await scan().value)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 198)
        #expect(try await scan().value == "4006381333931")
#sourceLocation()
    }

    @Test func `Cancel a group`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 209)
        let screen = CancellationTokenSource()
        let picture = Task<Data>.never.cancelled(by: screen.token)
        let comments = Task<[String]>.never.cancelled(by: screen.token)
        let timer = screen.token.register { print("the timer stops, too") }

        screen.cancel()  // the screen has gone
        print(picture.isCancelled, comments.isCancelled)  // true true
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 218)
        timer.cancel()
        #expect(picture.isCancelled && comments.isCancelled)
#sourceLocation()
    }

    @Test func `Clean up after a cancellation`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 232)
        let store = try LoopbackServer { request in request.method == "PUT" ? [.stall] : .response(204) }
        defer { store.stop() }
        let url = store.url("/key?uploadId=1")
        let client = URLClient()
        @Sendable func request(_ method: String, _ part: Int? = nil) -> URLRequest {
            var request = URLRequest(url: url)
            request.httpMethod = method
            return request
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 243)






        let parts = (1...4).map { client.begin(request("PUT", $0)) }
        let upload = client.keepOpen(
            for: parts.allSucceeded().always { result in
                if case .failure = result { _ = await client.begin(request("DELETE")).result }
            }
        )
        upload.cancel()
        await client.shutdown().value  // after the parts were removed at the server
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Recipes.md", line: 259)
        #expect(store.requests.last?.method == "DELETE")
#sourceLocation()
    }
}
