import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct NetworkDeliveryTests {
    private let content = LoopbackServer.Payload.patternBytes(0..<200_000)

    private func chain(_ loader: URLSessionLoader = .init()) -> some HTTPLoader {
        ResetGuard() --> Autocancel() --> Validate() --> Retry(clock: ImpatientClock()) --> Throttle(maximum: 4)
            --> loader
    }

    @Test func `a stream through the whole chain`() async throws {
        let server = try LoopbackServer {
            $0.number == 1 ? .response(503) : .response(body: .pattern(count: 200_000))
        }
        defer { server.stop() }
        var request = HTTPRequest(url: server.url("/"))
        request.delivery = .stream
        let response = try await chain().load(request).get()
        #expect(response.status == .ok && response.headers["Content-Length"] == "200000" && response.body.isEmpty)
        #expect(try await response.stream?.collect() == content)
        #expect(server.requestCount == 2)
    }

    @Test func `a stream that breaks off throws an error of the chain`() async throws {
        let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.close] }
        defer { server.stop() }
        var request = HTTPRequest(url: server.url("/"))
        request.delivery = .stream
        let response = try await chain().load(request).get()
        let error = await #expect(throws: HTTPError.self) { try await response.stream?.collect() }
        #expect(error?.code == .connectionLost && error?.request.id == request.id && server.requestCount == 1)
    }

    @Test func `a stream that nobody reads is given up, and its connection closed`() async throws {
        let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.stall] }
        defer { server.stop() }
        var request = HTTPRequest(url: server.url("/"))
        request.delivery = .stream
        do { _ = try await chain().load(request).get() }
        try await eventually { server.openConnectionCount == 0 }
    }

    @Test func `a file through the whole chain, resumed where it broke off`() async throws {
        let (source, target) = (try TemporaryDirectory(), try TemporaryDirectory())
        try content.write(to: source.file)
        let server = try LoopbackServer { request in
            let script = LoopbackServer.Script.file(source.file, for: request)
            return request.number == 1 ? script.truncated(after: 150_000) : script
        }
        defer { server.stop() }
        var request = HTTPRequest(url: server.url("/"))
        request.delivery = .file(target.file)
        let response = try await chain().load(request).get()
        #expect(response.file == target.file && response.body.isEmpty)
        #expect(try Data(contentsOf: target.file) == content)
        #expect(server.requestCount == 2 && server.requests.last?.headers["Range"] != nil, "it went on")
    }

    @Test func `a refused file is a response, which loaders judge`() async throws {
        let target = try TemporaryDirectory()
        let server = try LoopbackServer { request in
            request.headers["Authorization"] == nil ? .response(401, body: "why") : .response(body: "whole")
        }
        defer { server.stop() }
        var request = HTTPRequest(url: server.url("/"))
        request.delivery = .file(target.file)
        let refused = try await URLSessionLoader.underTest().load(request).get()
        #expect(refused.status == .unauthorized && refused.text == "why" && refused.file == nil)
        let host = "http://127.0.0.1:\(server.port)"
        let authentication = BearerAuthentication(hosts: [host]) { _ in .success("token") }
        let response = try await (authentication --> URLSessionLoader.underTest()).load(request).get()
        #expect(response.file == target.file)
        #expect(try String(contentsOf: target.file, encoding: .utf8) == "whole")
    }

    @Test func `a body from an asynchronous sequence is sent whole, in each attempt`() async throws {
        let server = try LoopbackServer { .response($0.number == 1 ? 503 : 200) }
        defer { server.stop() }
        let pieces = [Data("ab".utf8), Data(), Data("cde".utf8)]
        @Sendable func bytes() -> AsyncStream<Data> {
            AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }
        var request = HTTPRequest(.put, url: server.url("/"), body: .stream { bytes() })
        #expect(try await chain().load(request).get().status == .ok)
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abcde", "abcde"])
        request.body = .stream(bytes(), contentType: "text/plain")
        #expect(try await chain().load(request).get().status == .ok)
        #expect(server.requests[2].headers["Content-Type"] == "text/plain")
        request.body = .stream(bytes(), spooled: true)
        #expect(try await chain().load(request).get().status == .ok)
        #expect(server.requests[3].headers["Content-Length"] == "5" && server.requests[3].body == Data("abcde".utf8))
    }

    @Test func `a body that can be sent once is not tried again`() async throws {
        let server = try LoopbackServer { _ in .response(503) }
        defer { server.stop() }
        let bytes = AsyncStream<Data> { $0.finish() }
        let request = HTTPRequest(.put, url: server.url("/"), body: .stream(bytes))
        let loader = Retry(clock: ImpatientClock()) --> URLSessionLoader.underTest()
        #expect(try await loader.load(request).get().status == 503)
        #expect(server.requestCount == 1)
        let error = await #expect(throws: HTTPError.self) { try await loader.load(request).get() }
        #expect(error?.code == .bodyAlreadySent && error?.reason?.contains("a closure that makes") == true)
    }

    @Test(arguments: [false, true])
    func `a body with another length than announced is not sent`(isSpooled: Bool) async throws {
        let whole = Log<Data>()
        let server = try LoopbackServer {
            whole.add($0.body)
            return .response(200)
        }
        defer { server.stop() }
        let body = HTTPBody.stream(length: 7, spooled: isSpooled) { AsyncStream<Data> { $0.finish() } }
        #expect(body.length == 7 && !body.isEmpty)
        let error = await #expect(throws: HTTPError.self) {
            try await URLSessionLoader.underTest().load(HTTPRequest(.put, url: server.url("/"), body: body)).get()
        }
        #expect(error?.code == .invalidRequest && whole.entries == [])
    }

    #if os(Linux)
    @Test func `a body and its response go both ways at once`() async throws {
        let count = 1_000
        let port = try PromptedPort()
        let (bytes, continuation) = AsyncStream.makeStream(of: Data.self)
        var request = HTTPRequest(.post, url: port.url, body: .stream(bytes))
        request.delivery = .stream
        var configuration = URLClient.Configuration()
        configuration.engine = .libcurl
        let task = URLSessionLoader(configuration: configuration).load(request)
        let client = _Concurrency.Task { () -> Int in
            var iterator = try #require(try await task.get().stream).makeAsyncIterator()
            for number in 0..<count {
                continuation.yield(Data("a".utf8))
                guard try await iterator.next() == Data("b".utf8) else { return number }
            }
            continuation.finish()
            return try await iterator.next() == nil ? count : -1
        }
        port.receiveRequest()
        port.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<count {
            port.receive(6)
            port.send("1\r\nb\r\n")
        }
        port.receive(5)
        port.send("0\r\n\r\n")
        #expect(try await client.value == count)
    }
    #endif

    @Test func `cancelling a request whose body is still coming ends it at once`() throws {
        let whole = Log<Data>()
        let server = try LoopbackServer {
            whole.add($0.body)
            return .response(200)
        }
        defer { server.stop() }
        let body = HTTPBody.stream(AsyncStream<Data> { $0.yield(Data("a".utf8)) })
        let task = URLSessionLoader.underTest().load(HTTPRequest(.put, url: server.url("/"), body: body))
        task.cancel()
        #expect(task.codeNow == .cancelled && whole.entries == [])
    }

    @Test func `a time-out of a minute counts, as any other`() async throws {
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.deadlines.idle = .milliseconds(50)
        let loader = URLSessionLoader(configuration: configuration)
        var request = HTTPRequest(url: server.url("/"))
        request.timeout = .seconds(60)
        let patient = loader.load(request)
        request.timeout = nil
        #expect(await loader.load(request).result.failureCode == .timedOut)
        #expect(patient.peek() == nil, "its own time-out is the longer one")
        patient.cancel()
        for forever in [Duration.seconds(Int64.max), .seconds(1 << 32), Duration(attoseconds: .max)] {
            request.timeout = forever
            let task = loader.load(request)
            #expect(task.peek() == nil)
            task.cancel()
        }
    }
}
