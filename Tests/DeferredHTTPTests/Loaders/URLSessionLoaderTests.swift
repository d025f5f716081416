import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers with a response that isn't HTTP.
private final class PlainProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url else { return }
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 3, textEncodingName: nil)
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("new".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

@Suite(.serialized, .ownThreadInSeries, .timeLimit(.minutes(5)))
struct URLSessionLoaderTests {
    @Test func `every status is a response, also of a part that nobody asked for`() async throws {
        let server = try LoopbackServer { request in
            let status = Int(request.path.dropFirst()) ?? 0
            return status == 206
                ? .response(206, headers: ["Content-Range": "bytes 0-4/9"], body: "hello")
                : .response(status)
        }
        defer { server.stop() }
        for loader in URLSessionLoader.each {
            for status in Array(200...208) + [226] + Array(300...308) + Array(400...431) + [451, 499] + Array(500...511)
                + [599]
            {
                for delivery in [HTTPRequest.Delivery.data, .stream] {
                    var request = HTTPRequest(url: server.url("/\(status)"))
                    request.delivery = delivery
                    let response = try await loader.load(request).get()
                    #expect(response.status.code == status)
                    response.stream?.cancel()
                    if status == 206, delivery == .data { #expect(response.text == "hello") }
                }
            }
        }
    }

    @Test func `a response that isn't HTTP is none, and replaces no file`() async throws {
        let folder = try TemporaryDirectory()
        try Data("old".utf8).write(to: folder.file)
        let configuration = URLClient.Configuration()
        configuration.session.protocolClasses = [PlainProtocol.self]
        let loader = URLSessionLoader(configuration: configuration)
        for delivery in [.data, .stream, .file(folder.file)] as [HTTPRequest.Delivery] {
            var request = HTTPRequest(host: "example.com")
            request.delivery = delivery
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request).get() }
            #expect(error?.code == .invalidResponse)
        }
        #expect(try String(contentsOf: folder.file, encoding: .utf8) == "old")
    }

    @Test func `a body that can be sent once is an error of its own where it has to be sent again`() async throws {
        let server = try LoopbackServer { _ in .redirect(to: "/b", status: 307) }
        defer { server.stop() }
        for loader in URLSessionLoader.each {
            var request = HTTPRequest(.put, url: server.url("/a"))
            let (bytes, source) = AsyncStream<Data>.makeStream()
            source.yield(Data("hello".utf8))
            source.finish()
            request.body = .stream(bytes)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request).get() }
            #expect(error?.code == .bodyAlreadySent && error?.reason != nil)
        }
    }

    @Test func `a file is never a part that nobody asked for`() async throws {
        let target = try TemporaryDirectory()
        let server = try LoopbackServer { _ in
            .response(206, headers: ["Content-Range": "bytes 0-4/9"], body: "hello")
        }
        defer { server.stop() }
        for loader in URLSessionLoader.each {
            var request = HTTPRequest(url: server.url("/"))
            request.delivery = .file(target.file)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request).get() }
            let text = error.map { "\($0)" } ?? ""
            #expect(error?.code == .invalidResponse)
            for part in ["status 206", "bytes 0-4/9", "no range was requested", "set the header Range"] {
                #expect(text.contains(part), "\(text)")
            }
            #expect(!FileManager.default.fileExists(atPath: target.file.path))
        }
    }

    @Test func `a request goes out as it is, and the response comes back`() async throws {
        let server = try LoopbackServer { request in
            .response(
                201,
                headers: ["X-B": "2", "X-A": "1"],
                body: .text("\(request.method) \(request.target)")
            )
        }
        defer { server.stop() }
        let request = HTTPRequest(
            "PURGE",
            url: server.url("/a%2Fb?x=%2B&y"),
            headers: ["X-One": "1", "Cookie": "a=1", "x-one": "2", "cookie": "b=2"]
        )
        let response = try await URLSessionLoader.underTest().load(request).get()
        #expect(response.status == .created && response.text == "PURGE /a%2Fb?x=%2B&y")
        #expect(response.headers["x-a"] == "1" && response.url == server.url("/a%2Fb?x=%2B&y"))
        let sent = try #require(server.requests.first).headers
        #expect(sent.values(for: "X-One") == ["1,2"] && sent.values(for: "Cookie") == ["a=1; b=2"])
    }

    #if os(Linux)
    @Test(arguments: [HTTPRequest.Delivery.data, .stream])
    func `over libcurl repeated fields stay apart and in order`(delivery: HTTPRequest.Delivery) async throws {
        let lines = ["Set-Cookie: a=1", "link: </2>; rel=next", "Set-Cookie: b=2", "Link: </9>; rel=last", "A: x"]
        let head = "HTTP/1.1 200 OK\r\n" + lines.joined(separator: "\r\n") + "\r\nContent-Length: 0\r\n\r\n"
        let server = try LoopbackServer { _ in .raw(.text(head)) }
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.engine = .libcurl
        var request = HTTPRequest(url: server.url("/"))
        request.delivery = delivery
        let headers = try await URLSessionLoader(configuration: configuration).load(request).get().headers
        #expect(headers.map { "\($0.name): \($0.value)" } == lines + ["Content-Length: 0"])
        #expect(headers.values(for: "Link") == ["</2>; rel=next", "</9>; rel=last"])
    }
    #endif

    @Test(arguments: [400, 401, 404, 429, 500, 503])
    func `every status is a response, after one attempt`(status: Int) async throws {
        let server = try LoopbackServer { _ in
            .response(
                status,
                headers: ["WWW-Authenticate": "Basic realm=\"r\""],
                body: .pattern(count: 100_000)
            )
        }
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.authentication = .basic(user: "me", password: "secret")
        let loader = URLSessionLoader.underTest(configuration)
        let response = try await loader.load(HTTPRequest(url: server.url("/"))).get()
        // A client that judges the status by itself keeps a part of the body for its error.
        #expect(response.status.code == status && response.body.count == 100_000 && server.requestCount == 1)
    }

    @Test func `in a chain the chain decides, whatever client carries it`() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/private":
                request.headers["Authorization"] == "Bearer new"
                    ? .response(200) : .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            default: .response(503, body: "no")
            }
        }
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.authentication = .basic(user: "me", password: "secret")
        configuration.retries.clock = ImpatientClock()
        let client = URLClient(configuration: configuration)
        let loader = URLSessionLoader(client: client)
        let response = try await loader.load(HTTPRequest(url: server.url("/"))).get()
        #expect(response.status == 503 && response.text == "no" && server.requestCount == 1)
        let host = "http://127.0.0.1:\(server.port)"
        let chain = BearerAuthentication(token: "old", hosts: [host]) { _ in .success("new") } --> loader
        #expect(try await chain.load(HTTPRequest(url: server.url("/private"))).get().status == .ok)
        #expect(server.requests.map { $0.headers["Authorization"] } == [nil, "Bearer old", "Bearer new"])
        client.shutdown()
        #expect(loader.load(HTTPRequest(url: server.url("/"))).codeNow == .shutDown)
    }

    @Test func `failures have the code that says most`() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/loop": .redirect(to: "/loop")
            case "/short": .response(body: "12345", contentLength: 10) + [.close]
            case "/large": .response(body: .pattern(count: 2_000))
            case "/stall": [.stall]
            default: [.reset]
            }
        }
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.maximumBodySize = 1_000
        let loader = URLSessionLoader.underTest(configuration)
        let expected: [String: HTTPError.Code] = [
            "/loop": .tooManyRedirects, "/short": .connectionLost, "/large": .bodyTooLarge, "/stall": .timedOut,
            "/reset": .connectionLost,
        ]
        for (path, code) in expected {
            var request = HTTPRequest(url: server.url(path))
            if path == "/stall" { request.timeout = .milliseconds(50) }
            let task = loader.load(request)
            _ = await task.result
            #expect(task.codeNow == code, "\(path): \(String(describing: task.peek()))")
        }
        let nobody = LoopbackServer.unusedURL
        let task = loader.load(HTTPRequest(url: try nobody()))
        _ = await task.result
        #expect(task.codeNow == .cannotConnect)
    }

    #if os(Linux)
    @Test func `a limit of the rate holds for each delivery, or is refused with the engine that has it`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 30_000)) }
        defer { server.stop() }
        let folder = try TemporaryDirectory()
        var request = HTTPRequest(url: server.url("/"))
        request.rateLimit = 100_000
        for delivery in [HTTPRequest.Delivery.data, .stream, .file(folder.file)] {
            request.delivery = delivery
            let start = ContinuousClock.now
            let response = try await URLSessionLoader.each[1].load(request).get()
            if let stream = response.stream { #expect(try await stream.collect().count == 30_000) }
            #expect(.now - start > .milliseconds(250))
        }
        let error = await #expect(throws: HTTPError.self) { try await URLSessionLoader.each[0].load(request).get() }
        #expect(error?.code == .invalidRequest && error.map { "\($0)" }?.contains("use the engine libcurl") == true)
        request.rateLimit = 0
        let refusal = await #expect(throws: HTTPError.self) { try await URLSessionLoader.each[1].load(request).get() }
        #expect(refusal?.code == .invalidRequest && refusal.map { "\($0)" }?.contains("0 bytes a second") == true)
    }
    #endif

    @Test func `progress counts the bytes of the body`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 100_000)) }
        defer { server.stop() }
        let task = URLSessionLoader.underTest().load(HTTPRequest(url: server.url("/"))).task
        let snapshots = Journal<ProgressSnapshot>()
        task.uponProgress(on: .immediate) { snapshots.add($0) }
        _ = try await task.get()
        try await eventually { snapshots.entries.last?.fraction == 1 }
        #expect(snapshots.entries.last?.completed == 100_000 && snapshots.entries.last?.total == 100_000)
    }

    @Test func `after the end nothing is kept, and the connections are closed with the loader`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        defer { server.stop() }
        let lifetimes = Lifetimes()
        weak var kept: HTTPTask?
        do {
            let task = URLSessionLoader.underTest().load(HTTPRequest(url: server.url("/")))
            kept = task
            task.addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            _ = await task.result
        }
        try await eventually { kept == nil && lifetimes.count == 0 && server.openConnectionCount == 0 }
    }
}

extension LoopbackServer {
    /// Returns a URL with a port on which no server listens.
    fileprivate static func unusedURL() throws -> URL {
        let server = try LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        return server.url("/")
    }
}
