// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 148)
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

#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 170)
/// Adds the preferred language to each request.
struct Language: HTTPLink {
    let code: String
    func load(_ task: HTTPTask, next: any HTTPLoader) {
        var request = task.request
        request.headers["Accept-Language"] = code
        task.pass(request, to: next)
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 203)
/// Answers with an empty list where the server has none.
struct EmptyList: HTTPLink {
    func load(_ task: HTTPTask, next: any HTTPLoader) {
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

#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 655)
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
            request.target == "/v2/users?name=Ada%20L." ? .json(#"{"name": "Ada L."}"#) : .response(404)
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
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 30)
        (environment.scheme, environment.host, environment.port) = ("http", "127.0.0.1", Int(server.port))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 33)
        let chain =
            ResetGuard() --> Autocancel() --> Validate() --> Retry()
            --> Throttle(maximum: 8) --> ApplyEnvironment(environment)
            --> URLSessionLoader()

        var request = HTTPRequest(path: "/users")
        request.query = [.init(name: "name", value: "Ada L.")]
        let user = try await chain.load(request).get().decode(User.self)
        print(user.name)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 44)
        #expect(user.name == "Ada L.")
#sourceLocation()
    }

    @Test func `Options of one request`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 125)
        var request = HTTPRequest(.post, host: "api.example.com", path: "/users")
        request.retryStrategy = .never                       // Retry
        request.isThrottled = false                          // Throttle
        request.isDeduplicated = false                       // Deduplicate
        request.isAuthenticated = false                      // authentication
        request.acceptsStatus = { $0.code < 500 }            // Validate
        request.environment = .init(host: "b.example.com")   // ApplyEnvironment
        request.deadline = .seconds(30)                      // Deadline
        request.isRateLimited = false                        // RateLimit
        request.cachePolicy = .validate                      // Cache
        request.timeout = .seconds(5)                        // terminal loaders
        request.delivery = .stream                           // terminal loaders
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 139)
        let validate = joined(Validate(), StubLoader(.response(404)))
        let response = try await validate.load(request).get()
        #expect(response.status == .notFound && response.stream != nil)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 160)
        request.priority = 1
        #expect(request.priority == 1 && HTTPRequest(path: "/").priority == 0)
#sourceLocation()
    }

    @Test func `Write a loader`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 182)
        let server = try LoopbackServer { request in
            .response(body: .text(request.headers["Accept-Language"] ?? ""))
        }
        defer { server.stop() }
        let url = server.url("/")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 189)
        let chain = Retry() --> Language(code: "de") --> URLSessionLoader()
        let response = try await chain.load(HTTPRequest(url: url)).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 193)
        #expect(response.text == "de")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 219)
        let emptyList = joined(EmptyList(), StubLoader(.response(404)))
        let list = try await emptyList.load(HTTPRequest(host: "example.com")).get()
        #expect(list.text == "[]")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 231)
        #expect(await LoaderRules.broken { next in EmptyList() --> next() } == [])
#sourceLocation()
    }

    @Test func `Middleware`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 240)
        let stub = StubLoader { request in
            request.host == "a.example.com" ? .failure(.cannotConnect) : .response(body: request.headers["X-Region"] ?? "")
        }
        @Sendable func region() async throws -> String { "eu" }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 246)
        let regional = Intercept { request, next in
            var request = request
            request.headers["X-Region"] = try await region()
            return try await next(request)
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 254)
        let inner = joined(regional, stub)
        let taken = try await inner.load(HTTPRequest(host: "b.example.com")).get()
        #expect(taken.text == "eu")
#sourceLocation()
    }

    @Test func `Several chains in one`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 267)
        let (uploads, mirror) = (StubLoader(.response(201)), StubLoader(.response(202)))
        let primary = StubLoader(.failure(.cannotConnect))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 271)
        let chain =
            ResetGuard() --> Autocancel()
            --> Router(.host("uploads.example.com", uploads))
            --> Fallback(to: mirror) --> primary
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 277)
        var statuses: [HTTPStatus] = []
        for host in ["uploads.example.com", "example.com"] {
            statuses.append(try await chain.load(HTTPRequest(host: host)).get().status)
        }
        await chain.reset().value
        #expect(statuses == [201, 202] && [uploads, mirror, primary].allSatisfy { $0.resetCount == 1 })
#sourceLocation()
    }

    @Test func `Streams and files`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 293)
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 100_000)) }
        defer { server.stop() }
        let url = server.url("/")
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "video.mp4")
        var count = 0
        let chain: any HTTPLoader = URLSessionLoader()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 304)
        var request = HTTPRequest(url: url)
        request.delivery = .stream
        let response = try await chain.load(request).get()
        for try await bytes in response.stream ?? .empty {
            count += bytes.count
        }

        request.delivery = .file(file)  // resumes a failed download
        let downloaded = try await chain.load(request).get()
        print(downloaded.file ?? file)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 316)
        #expect(count == 100_000 && downloaded.file == file)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 338)
        request.body = .stream(contentType: "text/csv") {
            AsyncStream { continuation in
                for row in 1...1_000 { continuation.yield(Data("\(row)\n".utf8)) }
                continuation.finish()
            }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 346)
        #expect(try await request.body.makeByteStream()?.collect().count == 3_893)
#sourceLocation()
    }

    @Test func `Logging`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 355)
        final class Lines: Sendable {
            let all = Mutex<[String]>([])
            func debug(_ line: String) { all.withLock { $0.append(line) } }
        }
        let logger = Lines()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 362)
        let log = Log.events { event in logger.debug("\(event)") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 365)
        let logged = joined(log, StubLoader(.response(204)))
        _ = try await logged.load(HTTPRequest(host: "example.com")).get()
        #expect(logger.all.withLock { $0.count } == 3)
#sourceLocation()
    }

    @Test func `Tokens that expire`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 387)
        let server = try LoopbackServer { request in
            request.headers["Authorization"] == "Bearer fresh" ? .response(200) : .response(401)
        }
        defer { server.stop() }
        let url = server.url("/orders")
        let host = "http://127.0.0.1:\(server.port)"
        let refreshes = Mutex(0)
        @Sendable func fetchToken() -> Task<String> {
            refreshes.withLock { $0 += 1 }
            return .success("fresh")
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 400)
        let chain =
            Retry()
            --> BearerAuthentication(token: "stale", hosts: [host]) { _ in fetchToken() }
            --> Throttle(maximum: 8) --> URLSessionLoader()

        let tasks = (1...20).map { _ in chain.load(HTTPRequest(url: url)).task }
        let responses = try await tasks.allSucceeded().get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 409)
        #expect(responses.allSatisfy { $0.status == .ok } && refreshes.withLock { $0 } == 1)
#sourceLocation()
    }

    @Test func `Limits and retries`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 453)
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 457)
        let (deduplicate, throttle) = (Deduplicate(), Throttle(maximum: 2))
        let chain =
            deduplicate --> Retry(.backoff(attempts: 5)) --> throttle
            --> URLSessionLoader()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 463)
        let tasks = ["/a", "/a", "/b", "/c"].map { chain.load(HTTPRequest(url: server.url($0))) }
        #expect(throttle.waitingCount == 1 && deduplicate.mergedCount == 1)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 467)
        throttle.maximum = 1  // requests in flight beyond that continue
        print(throttle.waitingCount, deduplicate.mergedCount)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 471)
        #expect(throttle.waitingCount == 1)
        for task in tasks { task.cancel() }
        #expect(throttle.waitingCount == 0 && tasks.allSatisfy(\.isFilled))
#sourceLocation()
    }

    @Test func `Reset`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 481)
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
        let url = server.url("/")
        let authentication = BearerAuthentication(token: "token") { _ in .never }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 487)
        let chain =
            ResetGuard() --> Autocancel() --> authentication
            --> URLSessionLoader()
        let loading = chain.load(HTTPRequest(url: url))

        await chain.reset().value
        print(loading.isFilled, loading.isCancelled)  // true true
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 496)
        #expect(loading.isFilled && loading.isCancelled)
#sourceLocation()
    }

    @Test func `A client of an API`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 517)
        let server = StubLoader { request in
            switch request.path {
            case "/token": .json(#"{"access_token": "t", "expires_in": 3600}"#)
            case "/events": request.headers["Last-Event-ID"] == "1"
                ? .response(204) : .response(headers: ["Content-Type": "text/event-stream"], body: "id: 1\nretry: 0\ndata: built\n\n")
            default: request.query.isEmpty
                ? .response(headers: ["Link": "</repositories?page=2>; rel=\"next\""], body: #"["a", "b"]"#) : .response(body: #"["c"]"#)
            }
        }
        let tokenURL = URL(string: "https://auth.example.com/token") ?? URL(filePath: "/")
        let environment = HTTPEnvironment(host: "api.example.com")
        let keychain = OAuth.MemoryStorage(.init(access: "old", refresh: "r", expiry: .distantPast))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 531)
        let oauth = OAuth(.init(id: "app", token: tokenURL), storage: keychain, over: server)
        let chain =
            ResetGuard() --> Autocancel() --> Retry(.backoff().or(.custom { attempt in
                attempt.response?.status == .forbidden ? attempt.response?.retryAfter : nil
            }))
            --> oauth --> ApplyEnvironment(environment) --> Validate() --> server
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 543)
        var names: [String] = []
        for try await page in chain.pages(of: HTTPRequest(path: "/repositories")) {
            names += try page.decode([String].self)
        }

        for try await event in chain.events(of: HTTPRequest(path: "/events")) {
            print(event.type, event.data)
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 553)
        #expect(names == ["a", "b", "c"])
        await chain.reset().value
        await #expect(throws: HTTPError.self) { try await chain.load(HTTPRequest(path: "/repositories")).get() }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 561)
        struct Search: Encodable { var q: String, labels: [String] }

        var search = HTTPRequest(host: "api.example.com", path: "/search")
        try search.addQuery(Search(q: "futures", labels: ["swift", "linux"]))
        print(search.curlCommand)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 568)
        #expect(search.curlCommand == "curl 'https://api.example.com/search?labels=swift&labels=linux&q=futures'")
#sourceLocation()
    }

    @Test func `Test a chain`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 580)
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
        let response = try await task.get()
        #expect(response.text == #"{"name": "Ada"}"#)
        #expect(stub.requests.count == 3)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 602)
        let expecting = StubLoader(
            expecting: .get("/users/1", .response(503), .json(#"{"name": "Ada"}"#)),
            .init("an upload", { $0.method == .put }, .response(201))
        )
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 608)
        let put = try await expecting.load(HTTPRequest(.put, host: "example.com", path: "/x")).get()
        #expect(put.status == .created && expecting.unexpectedRequests.isEmpty)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 616)
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let recorder = Recorder()
        let recorded = try await joined(recorder, stub).load(HTTPRequest(host: "example.com")).get()
        try recorder.write(to: file)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 623)
        let replaying = try chain --> StubLoader(replaying: file)
        let replayed = try await replaying.load(HTTPRequest(host: "example.com")).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 627)
        #expect(replayed.text == recorded.text)
#sourceLocation()
    }

    @Test func `Test a chain, 2`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 634)
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
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 680)
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("hello".utf8).write(to: folder.appending(path: "a.txt"))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 687)
        let chain = Validate() --> Throttle(maximum: 8) --> Files(folder: folder)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md", line: 690)
        let found = try await chain.load(HTTPRequest(path: "/files/a.txt")).get()
        #expect(found.text == "hello")
        for path in ["/b.txt", "/..", "/", ""] {
            let error = await #expect(throws: HTTPError.self) { try await chain.load(HTTPRequest(path: path)).get() }
            #expect(error?.response?.status == .notFound)
        }
#sourceLocation()
    }
}
