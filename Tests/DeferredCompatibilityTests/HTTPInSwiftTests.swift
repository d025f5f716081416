import Deferred
import DeferredCompatibility
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Loaders as the series "HTTP in Swift" writes them, with another class to inherit from. The tests are deprecated, too, which
/// silences the warnings.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPInSwiftTests {
    private enum Priority: HTTPRequestOption {
        static let defaultValue = 0
    }

    private let request = HTTPRequest(url: URL(string: "http://example.com/a")!)

    /// Passes on, and says what it has seen.
    private class Printing: LoaderObject, @unchecked Sendable {
        let seen = TestSupport.Log<String>()

        override func load(task: HTTPTask) {
            seen.add("loading \(task.request.path)")
            task.addCompletionHandler { [seen] _ in seen.add("loaded") }
            super.load(task: task)
        }

        override func reset(with group: DispatchGroup) {
            group.enter()
            DispatchQueue.global().async {
                self.seen.add("reset")
                group.leave()
            }
            super.reset(with: group)
        }
    }

    /// Loads a request again, as often as it fails, with tasks of its own.
    private class Retrying: LoaderObject, Attempting, @unchecked Sendable {
        let attempts: Int
        init(attempts: Int) { self.attempts = attempts }

        override func load(task: HTTPTask) { attempt(1, task) }

        @available(*, deprecated)
        func retry(_ number: Int, _ task: HTTPTask) {
            let copy = HTTPTask(request: task.request) { result in
                switch result {
                case .failure where number < self.attempts: self.attempt(number + 1, task)
                default: task.complete(with: result)
                }
            }
            task.addCancellationHandler { copy.cancel() }
            nextLoader?.load(task: copy)
        }

        private func attempt(_ number: Int, _ task: HTTPTask) { (self as any Attempting).retry(number, task) }
    }

    /// Calls what is deprecated without a warning.
    private protocol Attempting { func retry(_ number: Int, _ task: HTTPTask) }

    @available(*, deprecated)
    @Test func `a chain of the series' loaders loads, and is reset`() async throws {
        let printing = Printing()
        let chain = ResetGuard() --> printing --> StubLoader(.response(200))
        let task = chain.load(request: request) { _ in }
        #expect(try await task.get().status == 200)
        #expect(printing.seen.entries == ["loading /a", "loaded"])
        await withCheckedContinuation { done in chain.reset(on: .global()) { done.resume() } }
        #expect(printing.seen.entries.last == "reset")
        let group = DispatchGroup()
        chain.reset(with: group)
        await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
        #expect(printing.seen.entries.filter { $0 == "reset" }.count == 2)
    }

    @available(*, deprecated)
    @Test func `tasks that a loader makes itself go the same way`() async throws {
        let retrying = Retrying(attempts: 3)
        let stub = StubLoader(.failure(.connectionLost), .failure(.connectionLost), .response(201))
        let response = try await (retrying --> stub).load(request).get()
        #expect(response.status == 201 && stub.requests.count == 3)
    }

    @available(*, deprecated)
    @Test func `one object in two chains passes each task on in its own chain`() async throws {
        let printing = Printing()
        let (first, second) = (printing --> StubLoader(.pending), printing --> StubLoader(.response(202)))
        let waiting = first.load(request)
        #expect(try await second.load(request).get().status == 202)
        #expect(!waiting.isFilled)
        waiting.cancel()
        await #expect(throws: HTTPError.self) { try await waiting.get() }
    }

    @available(*, deprecated)
    @Test func `a loader without a chain has the next one that it is given, and fails without`() async throws {
        let printing = Printing()
        let failure = await #expect(throws: HTTPError.self) { try await printing.load(request).get() }
        #expect(failure?.code == .cannotConnect)
        let end = Printing()
        end.nextLoader = StubLoader(.response(200))
        printing.nextLoader = end
        #expect(try await printing.load(request).get().status == 200)
        await printing.reset().value
        #expect(end.seen.entries.contains("reset"))
        let other = HTTPError(code: .timedOut, request: request)
        #expect(other.code == .timedOut && other.response == nil)
    }

    @available(*, deprecated)
    @Test func `nothing is kept after the end`() async throws {
        let printing = Printing()
        weak var kept: StubLoader?
        do {
            let stub = StubLoader(.response(200))
            kept = stub
            _ = try await (printing --> stub).load(request).get()
            // The last one is what tasks of the loader's own would get.
            _ = try await (printing --> StubLoader(.response(200))).load(request).get()
        }
        #expect(kept == nil)
    }

    #if os(macOS) || os(Linux)
    @Test func `a next loader is set once`() async {
        await #expect(processExitsWith: .failure) {
            let loader = LoaderObject()
            loader.nextLoader = StubLoader()
            loader.nextLoader = StubLoader()
        }
    }
    #endif

    @available(*, deprecated)
    @Test func `the other names lead to ours`() async throws {
        let environment = ServerEnvironment(host: "api.example.com", pathPrefix: "/v1")
        var request = HTTPRequest(path: "users")
        request.serverEnvironment = environment
        #expect(request.serverEnvironment?.host == "api.example.com")
        request[option: Priority.self] = 3
        #expect(request[option: Priority.self] == 3 && request[Priority.self] == 3)
        let stub = StubLoader(.response(200))
        let modify = ModifyRequest(modifier: { request in
            var copy = request
            copy.headers["X-A"] = "b"
            return copy
        })
        let throttle = Throttle(maximumNumberOfRequests: 2)
        throttle.maximumNumberOfRequests = 3
        #expect(throttle.maximum == 3 && throttle.maximumNumberOfRequests == 3)
        let chain = modify --> throttle --> ApplyEnvironment(environment: environment) --> stub
        _ = try await chain.load(HTTPRequest(path: "users")).get()
        #expect(stub.requests.first?.url?.absoluteString == "https://api.example.com/v1/users")
        #expect(stub.requests.first?.headers["X-A"] == "b")
    }
}
