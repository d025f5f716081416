import Deferred
import DeferredAsyncHTTPClient
import DeferredTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct StreamTests {
    private static let endless = LoopbackServer.Script([.send("HTTP/1.1 200 OK\r\n\r\nfirst"), .stall])

    private func stream(
        _ fixture: borrowing Fixture,
        timeout: Duration? = nil,
        over chain: (any HTTPLoader)? = nil
    ) async throws -> HTTPBodyStream {
        var request = fixture.request()
        request.delivery = .stream
        request.timeout = timeout
        return try #require(try await (chain ?? fixture.loader).load(request).get().stream)
    }

    @Test func `a body is read as it comes`() async throws {
        let fixture = try Fixture { _ in Self.endless }
        var iterator = try await stream(fixture).makeAsyncIterator()
        #expect(try await iterator.next() == Data("first".utf8))
    }

    @Test func `all of a large body comes, and then its end`() async throws {
        let fixture = try Fixture { _ in .response(body: .pattern(count: 3_000_000)) }
        let stream = try await stream(fixture)
        #expect(try await stream.collect() == LoopbackServer.Payload.patternBytes(0..<3_000_000))
        #expect(try await stream.collect().isEmpty)
    }

    @Test func `a truncated stream fails after its bytes, and again when read once more`() async throws {
        let fixture = try Fixture { _ in .response(body: "hello", contentLength: 10) + [.close] }
        let stream = try await stream(fixture)
        var received = Data()
        let error = await #expect(throws: HTTPError.self) {
            for try await bytes in stream { received += bytes }
        }
        #expect(error?.code == .connectionLost && received == Data("hello".utf8))
        await #expect(throws: HTTPError.self) { try await stream.collect() }
    }

    @Test func `cancelling a stream that nobody reads stops the transfer`() async throws {
        let fixture = try Fixture { _ in Self.endless }
        let stream = try await stream(fixture)
        stream.cancel()
        await fixture.server.waitUntilDeserted()
        await #expect(throws: CancellationError.self) { try await stream.collect() }
    }

    @Test func `cancelling a stream wakes its reader`() async throws {
        let fixture = try Fixture { _ in Self.endless }
        let stream = try await stream(fixture)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == Data("first".utf8))
        let reading = Task { try await stream.collect() }
        stream.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await fixture.server.waitUntilDeserted()
    }

    @Test func `a cancelled reader doesn't mistake the bytes so far for the whole`() async throws {
        let fixture = try Fixture { _ in Self.endless }
        let stream = try await stream(fixture)
        let hasBegun = Deferred<Void>()
        let reading = Task {
            var count = 0
            for try await bytes in stream {
                count += bytes.count
                hasBegun.fill()
            }
            return count
        }
        await hasBegun.value
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await #expect(throws: CancellationError.self) { try await stream.collect() }
        await fixture.server.waitUntilDeserted()
    }

    @Test func `a stream that is dropped stops the transfer`() async throws {
        let fixture = try Fixture { _ in Self.endless }
        _ = try await stream(fixture)
        await fixture.server.waitUntilDeserted()
    }

    @Test func `a reset of the chain stops the transfer`() async throws {
        let fixture = try Fixture { _ in Self.endless }
        let chain = Autocancel() --> fixture.loader
        let stream = try await stream(fixture, over: chain)
        await chain.reset().value
        await fixture.server.waitUntilDeserted()
        await #expect(throws: CancellationError.self) { try await stream.collect() }
    }

    @Test func `a stream that falls silent times out`() async throws {
        let fixture = try Fixture { _ in Self.endless }
        let stream = try await stream(fixture, timeout: .milliseconds(200))
        let error = await #expect(throws: HTTPError.self) { try await stream.collect() }
        #expect(error?.code == .timedOut)
        await fixture.server.waitUntilDeserted()
    }
}
