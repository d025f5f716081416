import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ConformanceTests {
    /// Bodies in both directions, also at once.
    @Suite("Bodies")
    struct Bodies {
        typealias Route = ConformanceServer.Route

        private static let count = 1_000

        /// Begins a request whose body is sent while its response is read.
        private func begin(_ bytes: AsyncStream<Data>, to server: ConformanceServer) async throws -> HTTPResponse {
            var request = HTTPRequest(.post, url: try server.url(), body: .stream(bytes))
            request.delivery = .stream
            request.timeout = .seconds(5)
            return try await URLSessionLoader(client: server.client()).load(request).get()
        }

        @Test(arguments: Route.duplex)
        func `what is sent comes back`(route: Route) async throws {
            let server = try ConformanceServer(route, beforeBody: { _ in .echo() }) { _ in .response(404) }
            defer { server.stop() }
            let body = URLClient.UploadBody.stream { HTTPBody.sequence([Data("hello, ".utf8), Data("there".utf8)]) }
            #expect(try await server.client().upload(server.url(), from: body).answer() == (200, "hello, there"))
        }

        @Test(arguments: Route.duplex)
        func `a million bytes come back while they are sent`(route: Route) async throws {
            let server = try ConformanceServer(route, beforeBody: { _ in .echo() }) { _ in .response(404) }
            defer { server.stop() }
            let content = LoopbackServer.Payload.patternBytes(0..<1_000_000)
            let bodies: [URLClient.UploadBody] = [
                .stream(length: 1_000_000) { HTTPBody.sequence([content]) }, .stream { HTTPBody.sequence([content]) },
                .data(content),
            ]
            for body in bodies {
                let (echo, head) = try await server.client().upload(server.url(), from: body).get()
                #expect(head.status == 200 && echo == content)
            }
        }

        @Test(arguments: Route.available)
        func `a streamed body may be empty`(route: Route) async throws {
            let server = try ConformanceServer(route) { .response(body: .text("\($0.body.count)")) }
            defer { server.stop() }
            for length in [0, nil] as [Int64?] {
                let body = URLClient.UploadBody.stream(length: length) { HTTPBody.sequence([]) }
                #expect(try await server.client().upload(server.url(), from: body).answer() == (200, "0"))
            }
        }

        @Test(.enabled(if: isLibcurlTested), arguments: Route.duplex)
        func `a byte goes when the last one has come back`(route: Route) async throws {
            let server = try ConformanceServer(route, beforeBody: { _ in .echo() }) { _ in .response(404) }
            defer { server.stop() }
            let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
            sender.yield(Data("a".utf8))
            let response = try await begin(bytes, to: server)
            var count = 0
            for try await piece in try #require(response.stream) {
                #expect(piece == Data("a".utf8))
                count += 1
                if count < Self.count { sender.yield(Data("a".utf8)) } else { sender.finish() }
            }
            #expect(response.status == 200 && count == Self.count)
        }

        @Test(.enabled(if: isLibcurlTested), arguments: Route.duplex)
        func `a byte comes when the last one has gone back, and the response ends first`(route: Route) async throws {
            let script =
                LoopbackServer.Script.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                + .repeating([.send("1\r\na\r\n"), .receive(1)], count: Self.count) + [.send("0\r\n\r\n")]
            let server = try ConformanceServer(route, beforeBody: { _ in script }) { _ in .response(404) }
            defer { server.stop() }
            let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
            let response = try await begin(bytes, to: server)
            var count = 0
            for try await piece in try #require(response.stream) {
                #expect(piece == Data("a".utf8))
                count += 1
                sender.yield(piece)
            }
            sender.finish()
            #expect(response.status == 200 && count == Self.count)
        }

        @Test(arguments: Route.available)
        func `a body need not be read to its end`(route: Route) async throws {
            let server = try ConformanceServer(route) { _ in .response(body: .pattern(count: 1_000_000)) }
            defer { server.stop() }
            let client = server.client()
            for _ in 0..<3 {
                var iterator = try await client.stream(server.url()).get().body.makeAsyncIterator()
                #expect(try await iterator.next()?.first == 0)
            }
            #expect(try await client.begin(server.url()).get().0.count == 1_000_000)
        }

        @Test(arguments: Route.available)
        func `a body can be read byte by byte`(route: Route) async throws {
            let server = try ConformanceServer(route) { _ in .response(body: .pattern(count: 1_000_000)) }
            defer { server.stop() }
            var bytes: [UInt8] = []
            for try await piece in try await server.client().stream(server.url()).get().body {
                for byte in piece { bytes.append(byte) }
            }
            #expect(Data(bytes) == LoopbackServer.Payload.patternBytes(0..<1_000_000))
        }

        @Test(arguments: Route.available)
        func `cancelling before the head ends the request`(route: Route) async throws {
            let server = try ConformanceServer(route) { _ in [.stall] }
            defer { server.stop() }
            let (client, url) = (server.client(), try server.url())
            let waiting = _Concurrency.Task { try await client.begin(url).get() }
            try await eventually { server.server.requestCount == 1 }
            waiting.cancel()
            let error = await #expect(throws: (any Error).self) { try await waiting.value }
            #expect(error?.isCancellation == true)
        }

        @Test(arguments: Route.available)
        func `cancelling in the middle of the body ends the reading`(route: Route) async throws {
            let server = try ConformanceServer(route) { _ in
                .response(body: .pattern(count: 1_000), contentLength: 2_000) + [.stall]
            }
            defer { server.stop() }
            let (client, url) = (server.client(), try server.url())
            let (started, notify) = AsyncStream.makeStream(of: Void.self)
            let reading = _Concurrency.Task {
                let body = try await client.stream(url).get().body
                notify.yield()
                for try await piece in body { #expect(!piece.isEmpty) }
            }
            for await _ in started { break }
            reading.cancel()
            let error = await #expect(throws: (any Error).self) { try await reading.value }
            #expect(error?.isCancellation == true)
        }
    }
}
