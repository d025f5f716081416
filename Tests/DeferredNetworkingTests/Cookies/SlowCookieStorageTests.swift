#if os(Linux)
import DeferredCore
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

/// Tests of responses whose cookies take a while to be stored, as where each is written to a file.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SlowCookieStorageTests {
    private let thread = LibcurlLoop()

    /// Answers "/moved" with a redirect, and each path but "/" with a cookie: its name, and what the request had.
    private func makeServer() throws -> LoopbackServer {
        try LoopbackServer { request in
            let cookie = "\(request.path.dropFirst())=\(request.headers["Cookie"] ?? "none")"
            return switch request.path {
            case "/": .response(body: "hello")
            case "/moved": .response(302, headers: ["Set-Cookie": cookie, "Location": "/new"])
            default: .response(headers: ["Set-Cookie": cookie], body: "hello")
            }
        }
    }

    /// All engines run on one thread, as those of sessions do.
    private func makeEngine() throws -> (LibcurlEngine, HTTPCookieStorage) {
        var configuration = URLClient.Configuration()
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        configuration.cookies = storage
        return (try LibcurlEngine(configuration, on: [thread]), storage)
    }

    private typealias Received = Result<(Data, ResponseHead), any Error>

    private func begin(_ url: URL, on engine: LibcurlEngine) throws -> (Exchange, Future<Received>) {
        let end = Deferred<Received>()
        let request = try CheckedRequest(URLRequest(url: url)).fitted(to: engine)
        let exchange = Exchange.gather(request, on: RetainedEngine(engine)) { end.mustFill(with: $0) }
        return (exchange, end.future)
    }

    @Test func `a response whose cookies are being stored holds up no other engine`() async throws {
        let server = try makeServer()
        defer { server.stop() }
        let ((slow, storage), (other, _)) = (try makeEngine(), try makeEngine())
        let queue = try #require(slow.cookies).queue
        queue.suspend()
        let (_, waiting) = try begin(server.url("/slow"), on: slow)
        try await eventually { server.requestCount == 1 }
        for engine in [other, other, slow] {
            let (_, end) = try begin(server.url("/"), on: engine)
            #expect(try await end.value.get().0 == Data("hello".utf8))
        }
        #expect(!waiting.isFilled, "a response has no consequence before its cookies are stored")
        queue.resume()
        #expect(try await waiting.value.get().0 == Data("hello".utf8))
        #expect(storage.cookies?.map(\.name) == ["slow"])
        for engine in [slow, other] { engine.invalidate() }
    }

    @Test func `a redirect is followed with the cookies that came with it`() async throws {
        let server = try makeServer()
        defer { server.stop() }
        let (engine, storage) = try makeEngine()
        let (_, end) = try begin(server.url("/moved"), on: engine)
        #expect(try await end.value.get().0 == Data("hello".utf8))
        let cookies = (storage.cookies ?? []).sorted { $0.name < $1.name }.map { "\($0.name)=\($0.value)" }
        #expect(cookies == ["moved=none", "new=moved=none"])
        engine.invalidate()
    }

    @Test func `a transfer that is cancelled meanwhile ends once, and releases its engine`() async throws {
        let server = try makeServer()
        defer { server.stop() }
        for isBeforeTheEnd in [true, false] {
            let (engine, _) = try makeEngine()
            let queue = try #require(engine.cookies).queue
            queue.suspend()
            let count = server.requestCount
            let (transfer, end) = try begin(server.url("/slow"), on: engine)
            try await eventually { server.requestCount == count + 1 }
            // The engine is busy with others only once it is done with the response.
            if !isBeforeTheEnd { _ = await (try begin(server.url("/"), on: engine)).1.value }
            transfer.cancel()
            queue.resume()
            _ = await end.value
            engine.invalidate()
            await engine.invalidated.value
        }
    }
}
#endif
