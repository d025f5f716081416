import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client's requests over real connections to a `LoopbackServer`.
///
/// The suites are serialized: all sessions of a process share a queue, and a storm would delay its neighbours'
/// deadlines.
extension CSVDecoder: BodyDecoder {}

@Suite("URLClient", .serialized, .ownThreadInSeries, .timeLimit(.minutes(5)))
enum URLClientTests {}

extension URLClient {
    /// Returns a client over the engine under test that makes one attempt, unless `change` says otherwise.
    static func fresh(_ change: (inout Configuration) -> Void = { _ in }) -> URLClient {
        var configuration = Configuration()
        configuration.retries = .none
        if !isLibcurlTested { configuration.engine = .urlSession }
        if isCacheTested { configuration.responseCache = PassingCache() }
        change(&configuration)
        return URLClient(configuration: configuration)
    }
}

extension Task {
    /// Returns the ending of a client's task. Cancelling the test cancels the task.
    func ending<Value>() async -> Ending where Success == (Value, ResponseHead) {
        do {
            return .status(try await get().1.status.code)
        } catch {
            return Ending(error)
        }
    }
}

extension Task where Success == (Data, ResponseHead) {
    /// Returns the body as text.
    func text() async throws -> String {
        try await String(decoding: get().0, as: UTF8.self)
    }
}

extension URLClientTests {
    @Suite("Beginning")
    struct Begin {
        @Test func `a request gives its body and its response`() async throws {
            let server = try LoopbackServer { .response(headers: ["X-Method": $0.method], body: "hello") }
            defer { server.stop() }
            let (body, response) = try await URLClient.fresh().begin(server.url("/")).get()
            #expect(String(decoding: body, as: UTF8.self) == "hello")
            #expect(response.value(of: "X-Method") == "GET")
        }

        @Test func `a request that cannot be sent fails at once`() async throws {
            let client = URLClient.fresh()
            let task = client.begin(URLRequest(url: try #require(URL(string: "ftp://host/"))))
            guard case .failure(let error as URLClientError) = try #require(task.peek()),
                case .invalidRequest = error.code, error.url?.scheme == "ftp"
            else {
                Issue.record("not refused: \(task)")
                return
            }
            #expect(client.transport.requestCount == 0)
        }

        @Test func `a status that is not accepted fails with its body`() async throws {
            let server = try LoopbackServer { _ in .response(404, body: "nothing here") }
            defer { server.stop() }
            let ending = await URLClient.fresh().begin(server.url("/")).ending()
            #expect(ending == .client(.unacceptableStatus(code: 404, body: Data("nothing here".utf8))))
        }

        @Test func `every error of the library's own names its URL, without credentials, and has the refused head`()
            async throws
        {
            let server = try LoopbackServer { request in
                request.path == "/404" ? .response(404, headers: ["X-Why": "gone"], body: "") : [.stall]
            }
            defer { server.stop() }
            let client = URLClient.fresh { $0.maximumBodySize = 1 }
            let refused = server.url("/404?token=secret")
            let tasks = [client.begin(refused), client.upload(refused, from: .data(Data([1])))]
            for task in tasks {
                let error = try #require(await task.failure() as? URLClientError)
                #expect(error.url == refused && error.head?.headers["X-Why"] == "gone")
                #expect(error.description.contains("/404") && !error.description.contains("secret"))
            }
            let folder = try TemporaryDirectory()
            let download = try #require(await client.download(refused, to: folder.file).failure() as? URLClientError)
            #expect(download.url == refused && download.head?.headers["X-Why"] == "gone")
            let stream = try #require(await client.stream(refused).failure() as? URLClientError)
            #expect(stream.url == refused && stream.head?.status == 404)
            let late = client.begin(server.url("/late"), options: .init(total: .milliseconds(1)))
            #expect((await late.failure() as? URLClientError)?.url == server.url("/late"))
            let running = client.begin(server.url("/running"))
            client.invalidateAndCancel()
            #expect((await running.failure() as? URLClientError)?.url == server.url("/running"))
            #expect((await client.begin(server.url("/x")).failure() as? URLClientError)?.url == server.url("/x"))
        }

        @Test func `the body of a status that is not accepted is kept up to 64 KiB`() async throws {
            let server = try LoopbackServer { _ in .response(500, body: .pattern(count: 1_000_000)) }
            defer { server.stop() }
            let ending = await URLClient.fresh { $0.maximumBodySize = 10 }.begin(server.url("/")).ending()
            let body = LoopbackServer.Payload.patternBytes(0..<65_536)
            #expect(ending == .client(.unacceptableStatus(code: 500, body: body)))
        }

        @Test func `a refused body without an end is read up to 64 KiB at every door`() async throws {
            // A faster one can keep URLSession's one queue on Linux in libcurl, so that nothing is cancelled.
            let server = try LoopbackServer { _ in
                .response(404, body: .pattern(count: 1 << 40)).dripped(16 << 10, every: .milliseconds(1))
            }
            defer { server.stop() }
            let client = URLClient.fresh()
            let folder = try TemporaryDirectory()
            let failures = [
                await client.begin(server.url("/")).failure(),
                await client.upload(server.url("/"), from: .data(Data([1]))).failure(),
                await client.decode(Int.self, from: server.url("/")).failure(),
                await client.stream(server.url("/")).failure(),
                await client.download(server.url("/"), to: folder.file).failure(),
                await URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file).failure(),
            ]
            let body = LoopbackServer.Payload.patternBytes(0..<65_536)
            #expect(failures.allSatisfy { $0 as? URLClientError == .unacceptableStatus(code: 404, body: body) })
            try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
        }

        @Test func `any status is a success where the configuration says so`() async throws {
            let server = try LoopbackServer { _ in .response(404, body: "nothing here") }
            defer { server.stop() }
            let client = URLClient.fresh { $0.validation = .any }
            #expect(try await client.begin(server.url("/")).text() == "nothing here")
            let picky = URLClient.fresh { $0.validation = .custom { $0 == 404 } }
            #expect(await picky.begin(server.url("/")).ending() == .status(404))
        }

        @Test(arguments: [true, false])
        func `a body beyond the limit fails, with and without a length`(hasLength: Bool) async throws {
            let server = try LoopbackServer { _ in
                hasLength ? .response(body: .pattern(count: 1_001)) : .chunked([.pattern(count: 1_001)])
            }
            defer { server.stop() }
            let limited = URLClient.fresh { $0.maximumBodySize = 1_000 }
            #expect(await limited.begin(server.url("/")).ending() == .client(.bodyTooLarge(limit: 1_000)))
            let enough = URLClient.fresh { $0.maximumBodySize = 1_001 }
            #expect(await enough.begin(server.url("/")).ending() == .status(200))
        }

        @Test func `progress counts the bytes of the body`() async throws {
            let server = try LoopbackServer { _ in .response(body: .pattern(count: 100_000)) }
            defer { server.stop() }
            let task = URLClient.fresh().begin(server.url("/"))
            let progress = task.progress
            _ = try await task.get()
            #expect(progress.fractionCompleted == 1)
        }

        @Test func `cancelling ends the task at once and the transfer soon`() async throws {
            let server = try LoopbackServer { _ in [.stall] }
            defer { server.stop() }
            let client = URLClient.fresh()
            let task = client.begin(server.url("/"))
            try await eventually { server.requestCount == 1 }
            task.cancel()
            guard case .failure(let error as URLError) = try #require(task.peek()) else { return }
            #expect(error.code == .cancelled)
            #expect(error.failingURL == server.url("/"))
            try await eventually { client.transport.transferCount == 0 && server.openConnectionCount == 0 }
            #expect(client.transport.requestCount == 0)
        }

        @Test(arguments: [URLClient.Configuration.Engine.automatic, .urlSession])
        func `an error shows no password of its URL`(engine: URLClient.Configuration.Engine) async throws {
            let server = try LoopbackServer { _ in .response(200) }
            let port = server.port
            server.stop()
            let url = try #require(URL(string: "http://user:word@127.0.0.1:\(port)/path?query=1"))
            let client = URLClient.fresh { $0.engine = engine }
            let error = try #require(await client.begin(url).failure() as? URLError)
            #expect(error.code == .cannotConnectToHost)
            #expect(error.failingURL == URL(string: "http://127.0.0.1:\(port)/path?query=1"))
            let texts = ["\(error)", String(reflecting: error), "\(error as NSError)", "\(error.userInfo)"]
            #expect(!texts.contains { $0.contains("word") || $0.contains("user:") }, "\(texts)")
        }

        @Test func `cookies are off unless there is a storage for them`() async throws {
            let server = try LoopbackServer { request in
                .response(headers: ["Set-Cookie": "a=1"], body: .text(request.headers["Cookie"] ?? "none"))
            }
            defer { server.stop() }
            let without = URLClient.fresh()
            _ = try await without.begin(server.url("/")).get()
            #expect(try await without.begin(server.url("/")).text() == "none")
            let session = URLSessionConfiguration.ephemeral
            let with = URLClient.fresh { $0.cookies = session.httpCookieStorage }
            _ = try await with.begin(server.url("/")).get()
            #expect(try await with.begin(server.url("/")).text() == "a=1")
        }

        @Test func `a request that wants no cookies neither sends nor stores any`() async throws {
            let server = try LoopbackServer { request in
                .response(
                    headers: ["Set-Cookie": "n=\(request.number)"],
                    body: .text(request.headers["Cookie"] ?? "none")
                )
            }
            defer { server.stop() }
            let session = URLSessionConfiguration.ephemeral
            let client = URLClient.fresh { $0.cookies = session.httpCookieStorage }
            let without = URLRequest(server.url("/")) { $0.httpShouldHandleCookies = false }
            #expect(try await client.begin(server.url("/")).text() == "none")
            #expect(try await client.begin(without).text() == "none")
            #expect(try await client.begin(server.url("/")).text() == "n=1")
            try await eventually { client.transport.transferCount == 0 }
            await client.shutdown().value
            try await eventually { server.openConnectionCount == 0 }
        }

        @Test func `cookies go where their attributes say, on every engine`() async throws {
            let server = try LoopbackServer { request in
                let set: HTTPHeaders =
                    switch request.path {
                    case "/in":
                        [
                            "Set-Cookie": "sid=1; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT",
                            "Set-Cookie": "other=2; Path=/other", "Set-Cookie": "secure=3; Secure",
                        ]
                    case "/out": ["Set-Cookie": "sid=; Path=/; Max-Age=0"]
                    default: [:]
                    }
                return .response(headers: set, body: .text(request.headers["Cookie"] ?? "none"))
            }
            defer { server.stop() }
            let session = URLSessionConfiguration.ephemeral
            let client = URLClient.fresh { $0.cookies = session.httpCookieStorage }
            #expect(try await client.begin(server.url("/in")).text() == "none")
            #expect(try await client.begin(server.url("/echo")).text() == "sid=1")
            #expect(try await client.begin(server.url("/other/x")).text() == "other=2; sid=1")
            let own = URLRequest(server.url("/other")) { $0.setValue("a=b", forHTTPHeaderField: "Cookie") }
            #expect(try await client.begin(own).text() == "a=b")
            #expect(try await client.begin(server.url("/out")).text() == "sid=1")
            #expect(try await client.begin(server.url("/echo")).text() == "none")
        }

        @Test func `the cookie of a redirect goes to its target`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/"
                    ? .response(302, headers: ["Location": "/next", "Set-Cookie": "a=1"])
                    : .response(body: .text(request.headers["Cookie"] ?? "none"))
            }
            defer { server.stop() }
            let session = URLSessionConfiguration.ephemeral
            let client = URLClient.fresh { $0.cookies = session.httpCookieStorage }
            #expect(try await client.begin(server.url("/")).text() == "a=1")
        }

        @Test func `the headers of the session's configuration are sent`() async throws {
            let server = try LoopbackServer { .response(body: .text($0.headers["X-Own"] ?? "none")) }
            defer { server.stop() }
            let session = URLSessionConfiguration.ephemeral
            session.httpAdditionalHeaders = ["X-Own": "mine"]
            #expect(try await URLClient.fresh { $0.session = session }.begin(server.url("/")).text() == "mine")
        }

        @Test func `the client's own headers and user agent replace those of the session, whatever their case`()
            async throws
        {
            let server = try LoopbackServer { request in
                .response(
                    body: .text(
                        ["X-Own", "X-Session", "User-Agent"].map { request.headers[$0] ?? "" }.joined(separator: "|")
                    )
                )
            }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.session.httpAdditionalHeaders = [
                    "x-own": "session", "X-Session": "session", "user-agent": "session",
                ]
                $0.headers = ["X-Own": "client"]
                $0.userAgent = "test/1"
            }
            #expect(try await client.begin(server.url("/")).text() == "client|session|test/1")
            let request = URLRequest(server.url("/")) {
                $0.setValue("request", forHTTPHeaderField: "X-OWN")
                $0.setValue("mine", forHTTPHeaderField: "User-Agent")
            }
            #expect(try await client.begin(request).text() == "request|session|mine")
        }

        @Test func `a header of the client that can't be sent is refused, not dropped`() async throws {
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            for change: (inout URLClient.Configuration) -> Void in [
                { $0.headers = ["X-Own": "a\r\nb: c"] }, { $0.userAgent = "a\nb" },
            ] {
                guard case .client(let error) = await URLClient.fresh(change).begin(url).ending(),
                    case .invalidRequest = error.code
                else {
                    Issue.record("not refused")
                    continue
                }
            }
        }

        @Test func `connections to a host are limited`() async throws {
            let isLimited = Deferred<Void>()
            let server = try LoopbackServer { _ in
                isLimited.wait()
                return .response(body: "hello")
            }
            defer {
                isLimited.fill()
                server.stop()
            }
            let client = URLClient.fresh { $0.maximumConnectionsPerHost = 3 }
            let tasks = (0..<30).map { _ in client.begin(server.url("/")) }
            try await eventually { server.connectionCount == 3 }
            isLimited.fill()
            for task in tasks {
                #expect(await task.ending() == .status(200))
            }
            #expect(server.connectionCount == 3)
        }
    }

    @Suite("Decoding")
    struct Decode {
        private struct User: Decodable, Equatable, Sendable {
            let name: String
        }

        @Test func `JSON is asked for and decoded`() async throws {
            let server = try LoopbackServer { .json(#"{"name": "\#($0.headers["Accept"] ?? "")"}"#) }
            defer { server.stop() }
            let user = try await URLClient.fresh().decode(User.self, from: URLRequest(url: server.url("/"))).get()
            #expect(user == User(name: "application/json"))
        }

        @Test func `a decoder of one's own is asked for its type, and used`() async throws {
            let server = try LoopbackServer { .response(body: "name\n\($0.headers["Accept"] ?? "")\n") }
            defer { server.stop() }
            let users = URLClient.fresh().decode([User].self, from: server.url("/"), using: CSVDecoder())
            #expect(try await users.get() == [User(name: "text/csv")])
            let failing = URLClient.fresh().decode(User.self, from: server.url("/"), using: CSVDecoder())
            #expect(await failing.failure() is CSVDecoder.NotAList)
        }

        @Test func `a response that isn't HTTP is none`() async throws {
            let url = try #require(URL(string: "http://host/plain"))
            let client = URLClient.fresh { $0.session.protocolClasses = [StubProtocol.self] }
            #expect((await client.decode(Int.self, from: url).failure() as? URLError)?.code == .badServerResponse)
            #expect(await client.begin(url).ending() == .url(.badServerResponse))
            #expect((await client.stream(url).failure() as? URLError)?.code == .badServerResponse)
            let folder = try TemporaryDirectory()
            let file = folder.file
            try Data("old".utf8).write(to: file)
            for isResuming in [true, false] {
                let download = client.download(url, to: file, resuming: isResuming)
                #expect((await download.failure() as? URLError)?.code == .badServerResponse)
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == "old")
        }

        @Test func `a body of another type fails with the decoder's error`() async throws {
            let server = try LoopbackServer { _ in .json("[]") }
            defer { server.stop() }
            let task = URLClient.fresh().decode(User.self, from: URLRequest(url: server.url("/")))
            #expect(await task.failure() is DecodingError)
        }
    }
}
