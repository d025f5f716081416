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

extension URLClientTests {
    @Suite("Limits of the rate", .enabled(if: isLibcurlTested))
    struct RateLimit {
        private static let count = 60_000
        private static let body = LoopbackServer.Payload.pattern(count: count)
        private static let bytes = LoopbackServer.Payload.patternBytes(0..<count)

        /// The options for a body of `count` bytes that is to take as long.
        private static func limit(_ seconds: Double) -> URLClient.RequestOptions {
            .init(rateLimit: Int(Double(count) / seconds))
        }

        /// Less than the time that the limit asks for: the last pieces need no pause.
        private static func expect(atLeast seconds: Double, since start: ContinuousClock.Instant) {
            #expect(.now - start >= .seconds(seconds * 0.9))
        }

        @Test func `every way to take a body takes the time that the limit asks for`() async throws {
            let server = try LoopbackServer { _ in .response(body: Self.body) }
            defer { server.stop() }
            let (client, url) = (URLClient.fresh(), server.url("/"))
            let folder = try TemporaryDirectory()
            // On a new connection, and on one that was idle, whose first bytes are there at once.
            for _ in 1...2 {
                let start = ContinuousClock.now
                #expect(try await client.begin(url, options: Self.limit(0.4)).get().0 == Self.bytes)
                Self.expect(atLeast: 0.4, since: start)
            }
            var start = ContinuousClock.now
            let stream = try await client.stream(url, options: Self.limit(0.4)).get()
            #expect(try await stream.body.collect() == Self.bytes)
            Self.expect(atLeast: 0.4, since: start)
            start = .now
            _ = try await client.download(url, to: folder.file, options: Self.limit(0.4)).get()
            Self.expect(atLeast: 0.4, since: start)
            #expect(try Data(contentsOf: folder.file) == Self.bytes)
        }

        @Test func `the next request on the connection has no limit of an earlier one`() async throws {
            let server = try LoopbackServer { .response(body: .pattern(count: $0.number == 1 ? 10_000 : 4_000_000)) }
            defer { server.stop() }
            let client = URLClient.fresh()
            _ = try await client.begin(server.url("/"), options: .init(rateLimit: 100_000)).get()
            // With the other's limit, it would take 40 seconds.
            let start = ContinuousClock.now
            #expect(try await client.begin(server.url("/")).get().0.count == 4_000_000)
            #expect(.now - start < .seconds(20))
            #expect(server.connectionCount == 1)
        }

        @Test func `pauses of the limit are no silence, and progress goes on`() async throws {
            let server = try LoopbackServer { _ in .response(body: .pattern(count: 2_048)) }
            defer { server.stop() }
            // The first KiB is read at once, and the second one half a second later.
            let client = URLClient.fresh { $0.deadlines.idle = .milliseconds(250) }
            let fractions = Log<Double>()
            let task = client.begin(server.url("/"), options: .init(rateLimit: 2_000))
            task.uponProgress(on: .immediate) { fractions.add($0.fraction) }
            #expect(try await task.get().0.count == 2_048)
            #expect(fractions.entries.contains { $0 > 0.1 && $0 < 0.9 })
        }

        @Test func `silence of the server still ends a request with a limit`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.stall] }
            defer { server.stop() }
            let client = URLClient.fresh { $0.deadlines.idle = .milliseconds(80) }
            let options = URLClient.RequestOptions(rateLimit: 100)
            #expect(await client.begin(server.url("/"), options: options).ending() == .url(.timedOut))
        }

        @Test func `a request that waits for the connection of one with a limit is not silent either`() async throws {
            let server = try LoopbackServer { .response(body: .pattern(count: $0.path == "/slow" ? 1_024 : 5)) }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.deadlines.idle = .milliseconds(250)
                $0.maximumConnectionsPerHost = 1
            }
            let slow = client.begin(server.url("/slow"), options: .init(rateLimit: 1_500))
            let next = client.begin(server.url("/next"), options: .init(rateLimit: 1_000_000))
            #expect(try await next.get().0.count == 5)
            #expect(try await slow.get().0.count == 1_024)
        }

        @Test func `cancelling ends a request at once while it pauses, and others go on`() async throws {
            let server = try LoopbackServer { _ in .response(body: Self.body) }
            defer { server.stop() }
            let client = URLClient.fresh()
            let begun = Deferred<Void>()
            // A pause of 17 minutes.
            let task = client.begin(server.url("/"), options: .init(rateLimit: 1))
            task.uponProgress(on: .immediate) { if $0.completed > 0 { begun.fill() } }
            try await begun.get()
            let start = ContinuousClock.now
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
            #expect(try await client.begin(server.url("/")).get().0 == Self.bytes)
            await client.shutdown().value
            #expect(.now - start < .seconds(10))
        }

        @Test func `each attempt of a download keeps the limit`() async throws {
            let server = try LoopbackServer { request in
                let script = LoopbackServer.Script.resumable(Self.body, for: request)
                return request.number == 1 ? script.truncated(after: Self.count / 2) : script
            }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.retries.attempts = 2
                $0.retries.clock = NotingClock()
            }
            let folder = try TemporaryDirectory()
            let start = ContinuousClock.now
            _ = try await client.download(server.url("/"), to: folder.file, options: Self.limit(0.6)).get()
            Self.expect(atLeast: 0.6, since: start)
            #expect(server.requestCount == 2)
            #expect(try Data(contentsOf: folder.file) == Self.bytes)
        }

        @Test(arguments: [0, -1, .min])
        func `a limit that lets nothing come is refused, with the value and the remedy`(limit: Int) async {
            let url = URL(string: "http://127.0.0.1:9/")!
            let ending = await URLClient.fresh().begin(url, options: .init(rateLimit: limit)).ending()
            let reason =
                "the rate limit of \(limit) bytes a second lets no response come; use at least 1, or nil for none"
            #expect(ending == .client(.invalidRequest(reason: reason)))
        }

        @Test func `the largest limit is none`() async throws {
            let server = try LoopbackServer { _ in .response(body: Self.body) }
            defer { server.stop() }
            let task = URLClient.fresh().begin(server.url("/"), options: .init(rateLimit: .max))
            #expect(try await task.get().0 == Self.bytes)
        }

        @Test func `over URLSession it is refused, with the name of the engine that has it`() async {
            let client = URLClient.fresh { $0.engine = .urlSession }
            let url = URL(string: "http://127.0.0.1:9/")!
            let ending = await client.begin(url, options: .init(rateLimit: 1_000)).ending()
            let reason =
                "URLSession has no rate limits; use the engine libcurl: Configuration.engine, and libcurl installed"
            #expect(ending == .client(.invalidRequest(reason: reason)))
        }

        #if os(Linux)
        @Test(.enabled(if: LoopbackServer.canDoTLS)) func `it holds over TLS, too`() async throws {
            let authority = try LoopbackServer.Authority(name: "The authority")
            let server = try LoopbackServer(tls: .init(authority.issue())) { _ in .response(body: Self.body) }
            defer { server.stop() }
            let client = URLClient.fresh { $0.tls.authorities = .data(authority.certificate) }
            let start = ContinuousClock.now
            #expect(try await client.begin(server.url("/"), options: Self.limit(0.4)).get().0 == Self.bytes)
            Self.expect(atLeast: 0.4, since: start)
        }
        #endif
    }
}
