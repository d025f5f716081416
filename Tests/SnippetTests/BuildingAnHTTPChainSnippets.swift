// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md.

import Deferred
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 109)
enum PriorityOption: HTTPRequestOption {
    static let defaultValue = 0
}

extension HTTPRequest {
    var priority: Int {
        get { self[PriorityOption.self] }
        set { self[PriorityOption.self] = newValue }
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 131)
/// Says with each request in which language the answer is to be.
struct Language: HTTPLink {
    let code: String
    var next: (any HTTPLoader)?

    func load(_ task: HTTPTask) {
        var request = task.request
        request.headers["Accept-Language"] = code
        task.pass(request, to: next)
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 165)
/// Answers with an empty list where the server has none.
struct EmptyList: HTTPLink {
    var next: (any HTTPLoader)?

    func load(_ task: HTTPTask) {
        task.pass(task.request, to: next) { result in
            if case .success(let response) = result,
                response.status == .notFound
            {
                task.succeed(.ok, body: Data("[]".utf8))
            } else {
                task.complete(with: result)
            }
        }
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 343)
/// Answers with the files in a folder, by their names.
struct Files: HTTPLoader {
    let folder: URL

    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let name = URL(filePath: task.request.path).lastPathComponent
        let reading = Task.async(on: .global()) { [folder] in
            try Data(contentsOf: folder.appending(path: name))
        }
        task.addCancellationHandler { reading.cancel() }
        reading.upon(.immediate) { result in
            switch result {
            case .success(let data):
                task.succeed(.ok, body: data)
            case .failure(let error) where error.isCancellation:
                task.fail(.cancelled)
            case .failure:
                task.succeed(.notFound)
            }
        }
    }
}
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct BuildingAnHTTPChainSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 11)
        let server = try LoopbackServer { request in
            request.target == "/v2/users?name=Ada%20L." ? .json(#"{"name": "Ada L."}"#) : .status(404)
        }
        defer { server.stop() }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 17)
        struct User: Codable { let name: String }

        var environment = HTTPEnvironment(
            host: "api.example.com",
            pathPrefix: "/v2"
        )
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 25)
        (environment.scheme, environment.host, environment.port) = ("http", "127.0.0.1", Int(server.port))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 28)
        let chain =
            ResetGuard() --> Autocancel() --> Validate() --> Retry()
            --> Throttle(maximum: 8) --> ApplyEnvironment(environment)
            --> URLSessionLoader()

        var request = HTTPRequest(path: "/users")
        request.query = [.init(name: "name", value: "Ada L.")]
        let user = try await chain.load(request).task.get().decode(User.self)
        print(user.name)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 39)
        #expect(user.name == "Ada L.")
#sourceLocation()
    }

    @Test func `Say it for one request`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 89)
        var request = HTTPRequest(.post, host: "api.example.com", path: "/users")
        request.retryStrategy = .never                       // Retry
        request.isThrottled = false                          // Throttle
        request.isDeduplicated = false                       // Deduplicate
        request.isAuthenticated = false                      // authentication
        request.acceptsStatus = { $0.code < 500 }            // Validate
        request.environment = .init(host: "b.example.com")   // ApplyEnvironment
        request.timeout = .seconds(5)                        // terminal loaders
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 99)
        var validate = Validate()
        validate.next = StubLoader(.response(404))
        let response = try await validate.load(request).task.get()
        #expect(response.status == .notFound)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 121)
        request.priority = 1
        #expect(request.priority == 1 && HTTPRequest(path: "/").priority == 0)
#sourceLocation()
    }

    @Test func `A loader of your own`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 145)
        let server = try LoopbackServer { request in
            .response(body: .text(request.headers["Accept-Language"] ?? ""))
        }
        defer { server.stop() }
        let url = server.url("/")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 152)
        let chain = Retry() --> Language(code: "de") --> URLSessionLoader()
        let response = try await chain.load(HTTPRequest(url: url)).task.get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 156)
        #expect(response.text == "de")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 183)
        var emptyList = EmptyList()
        emptyList.next = StubLoader(.response(404))
        let list = try await emptyList.load(HTTPRequest(host: "example.com")).task.get()
        #expect(list.text == "[]")
#sourceLocation()
    }

    @Test func `Tokens that expire`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 199)
        let server = try LoopbackServer { request in
            request.headers["Authorization"] == "Bearer fresh" ? .status(200) : .status(401)
        }
        defer { server.stop() }
        let url = server.url("/orders")
        let refreshes = Mutex(0)
        @Sendable func fetchToken() -> Task<String> {
            refreshes.withLock { $0 += 1 }
            return .success("fresh")
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 211)
        let chain =
            Retry()
            --> BearerAuthentication(token: "stale") { refused in fetchToken() }
            --> Throttle(maximum: 8) --> URLSessionLoader()

        let tasks = (1...20).map { _ in chain.load(HTTPRequest(url: url)).task }
        let responses = try await tasks.allSucceeded().get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 220)
        #expect(responses.allSatisfy { $0.status == .ok } && refreshes.withLock { $0 } == 1)
#sourceLocation()
    }

    @Test func `Limits and retries`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 243)
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 247)
        let (deduplicate, throttle) = (Deduplicate(), Throttle(maximum: 2))
        let chain =
            deduplicate --> Retry(.backoff(attempts: 5)) --> throttle
            --> URLSessionLoader()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 253)
        let tasks = ["/a", "/a", "/b", "/c"].map { chain.load(HTTPRequest(url: server.url($0))) }
        #expect(throttle.waitingCount == 1 && deduplicate.mergedCount == 1)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 257)
        throttle.maximum = 1  // what is in flight beyond that goes on
        print(throttle.waitingCount, deduplicate.mergedCount)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 261)
        #expect(throttle.waitingCount == 1)
        for task in tasks { task.cancel() }
        #expect(throttle.waitingCount == 0 && tasks.allSatisfy(\.isFilled))
#sourceLocation()
    }

    @Test func `Reset`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 271)
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
        let url = server.url("/")
        let authentication = BearerAuthentication(token: "token") { _ in .never }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 277)
        let chain =
            ResetGuard() --> Autocancel() --> authentication
            --> URLSessionLoader()
        let loading = chain.load(HTTPRequest(url: url))

        await chain.reset().value
        print(loading.isFilled, loading.isCancelled)  // true true
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 286)
        #expect(loading.isFilled && loading.isCancelled)
#sourceLocation()
    }

    @Test func `Test a chain`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 300)
        let clock = ManualClock()
        let chain = Validate() --> Retry(clock: clock) --> URLSessionLoader()
        let stub = StubLoader(
            .failure(.connectionLost),
            .response(503),
            .json(#"{"name": "Ada"}"#)
        )

        let task = (chain --> stub).load(HTTPRequest(host: "example.com"))
        for _ in 1...2 {
            try await clock.waitForSleepers()
            clock.advanceToNextDeadline()
        }
        let response = try await task.task.get()
        #expect(response.text == #"{"name": "Ada"}"#)
        #expect(stub.requests.count == 3)
#sourceLocation()
    }

    @Test func `Test a chain, 2`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 322)
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 1))
        let chain = throttle --> stub
        let tasks = ["/1", "/2", "/3"].map { path in
            chain.load(HTTPRequest(host: "example.com", path: path))
        }

        tasks[1].cancel()  // while it waits
        stub.tasksInFlight[0].succeed(.ok)
        #expect(stub.requests.map(\.path) == ["/1", "/3"])
#sourceLocation()
    }

    @Test func `Replace the engine`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 368)
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("hello".utf8).write(to: folder.appending(path: "a.txt"))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 375)
        let chain = Validate() --> Throttle(maximum: 8) --> Files(folder: folder)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 378)
        let found = try await chain.load(HTTPRequest(path: "/files/a.txt")).task.get()
        #expect(found.text == "hello")
        for path in ["/b.txt", "/..", "/", ""] {
            let error = await #expect(throws: HTTPError.self) { try await chain.load(HTTPRequest(path: path)).task.get() }
            #expect(error?.response?.status == .notFound)
        }
#sourceLocation()
    }
}
