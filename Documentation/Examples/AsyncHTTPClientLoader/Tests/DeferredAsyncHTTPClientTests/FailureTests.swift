import AsyncHTTPClient
import Deferred
import DeferredAsyncHTTPClient
import DeferredTesting
import Foundation
import NIOCore
import NIOPosix
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FailureTests {
    @Test(
        arguments: [
            ([.close], .connectionLost),
            ([.reset], .connectionLost),
            ([.send("HTTP/1.1 200 OK\r\nContent-Le"), .close], .connectionLost),
            (.response(body: "hello", contentLength: 10) + [.close], .connectionLost),
            (.response(body: "hello", contentLength: 10) + [.reset], .connectionLost),
            ([.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello"), .close], .connectionLost),
            (.raw("SSH-2.0-OpenSSH_9.2\r\n"), .invalidResponse),
            (.raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), .invalidResponse),
            (.redirect(to: "/"), .tooManyRedirects),
            ([.stall], .timedOut),
            (.response(body: "hello", contentLength: 10) + [.stall], .timedOut),
        ] as [(LoopbackServer.Script, HTTPError.Code)]
    )
    func `each fault of a server has an error code`(script: LoopbackServer.Script, code: HTTPError.Code) async throws {
        let fixture = try Fixture { _ in script }
        var request = fixture.request()
        if code == .timedOut { request.timeout = .milliseconds(200) }
        #expect(await failure(of: fixture.loader.load(request)) == code)
    }

    @Test func `a server that isn't there can't be connected to`() async throws {
        let fixture = try Fixture { _ in .response(204) }
        fixture.server.stop()
        #expect(await failure(of: fixture.loader.load(fixture.request())) == .cannotConnect)
    }

    @Test func `a server that doesn't speak TLS has no secure connection`() async throws {
        let fixture = try Fixture { _ in .response(204) }
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { $0.pipeline.addHandler(Greeter()) }
            .bind(host: "127.0.0.1", port: 0).get()
        let request = HTTPRequest(scheme: "https", host: "127.0.0.1", port: server.localAddress?.port)
        #expect(await failure(of: fixture.loader.load(request)) == .insecureConnection)
        try await server.close()
    }

    @Test(arguments: [true, false])
    func `a body that is too large is not gathered`(isAnnounced: Bool) async throws {
        let body = LoopbackServer.Payload.pattern(count: 50_000_000)
        let fixture = try Fixture { _ in isAnnounced ? .response(body: body) : .untilClose(body: body) }
        let loader = AsyncHTTPClientLoader(client: fixture.client, maximumBodySize: 100_000)
        #expect(await failure(of: loader.load(fixture.request())) == .bodyTooLarge)
        await fixture.server.waitUntilDeserted()
    }

    @Test func `a request that can't be sent is not sent`() async throws {
        let fixture = try Fixture { _ in .response(204) }
        var request = fixture.request()
        request.headers["X-Tag"] = "a\r\nb"
        #expect(await failure(of: fixture.loader.load(request)) == .invalidRequest)
        request = fixture.request(.put, body: .file(URL(filePath: "/nowhere/at/all")))
        #expect(await failure(of: fixture.loader.load(request)) == .invalidRequest)
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `a client that was shut down takes no more requests`() async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        try await client.shutdown()
        let task = AsyncHTTPClientLoader(client: client).load(HTTPRequest(url: URL(filePath: "/")))
        #expect(await failure(of: task) == .invalidRequest)
        let other = AsyncHTTPClientLoader(client: client).load(HTTPRequest(scheme: "http", host: "127.0.0.1"))
        #expect(await failure(of: other) == .shutDown)
    }
}

/// Speaks first, and no TLS.
private final class Greeter: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "220 welcome\r\n")), promise: nil)
    }
}
