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

/// A clock that doesn't wait, but records how long it was asked to wait.
struct NotingClock: Clock {
    let pauses = Log<Duration>()
    let now = ContinuousClock.now
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        pauses.add(deadline - now)
    }
}

/// A clock that waits until it is cancelled.
struct EndlessClock: Clock {
    let sleeping = Deferred<Void>()
    let now = ContinuousClock.now
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        sleeping.fill()
        _ = try await Future<Void>.never.get()
    }
}

extension URLClientTests {
    @Suite("Retries")
    struct Retries {
        private func client(
            _ clock: NotingClock,
            _ change: (inout URLClient.Configuration) -> Void = { _ in }
        ) -> URLClient {
            .fresh {
                $0.retries = URLClient.Retries()
                $0.retries.clock = clock
                $0.retries.random = { 1 }
                change(&$0)
            }
        }

        @Test(arguments: [408, 429, 502, 503, 504])
        func `a status that passes is tried again with growing pauses`(status: Int) async throws {
            let server = try LoopbackServer { $0.number < 3 ? .response(status) : .response(body: "hello") }
            defer { server.stop() }
            let clock = NotingClock()
            #expect(try await client(clock).begin(server.url("/")).text() == "hello")
            #expect(clock.pauses.entries == [.milliseconds(200), .milliseconds(400)])
        }

        @Test(arguments: [
            LoopbackServer.Script([.reset]), .response(body: "12345", contentLength: 10) + [.close], [.stall],
        ])
        func `a failure that passes is tried again`(script: LoopbackServer.Script) async throws {
            let server = try LoopbackServer { $0.number == 1 ? script : .response(body: "hello") }
            defer { server.stop() }
            let clock = ManualClock()
            let task = client(NotingClock()) { $0.deadlineClock = clock }.begin(server.url("/"))
            try await eventually { server.requestCount > 0 }
            if script == [.stall] { clock.advance(by: .seconds(60)) }
            #expect(try await task.text() == "hello")
        }

        @Test(arguments: [false, true])
        func `a handshake cut short is a lost connection, and tried again`(isReset: Bool) async throws {
            let port = try HandshakeCuttingPort(isReset: isReset)
            let clock = NotingClock()
            let url = try #require(URL(string: "https://127.0.0.1:\(port.number)/"))
            #expect(await client(clock).begin(url).ending() == .url(.networkConnectionLost))
            #expect(clock.pauses.entries.count == 2)
        }

        @Test func `a closure that decides about another attempt may use the client`() async throws {
            let server = try LoopbackServer { _ in [.reset] }
            defer { server.stop() }
            let user = Lock<URLClient?>(nil)
            let client = URLClient.fresh {
                $0.retries = .init()
                $0.retries.isRetryable = { _ in
                    user.withLock { $0 }?.cancelAll()
                    return true
                }
            }
            user.withLock { $0 = client }
            #expect(await client.begin(server.url("/")).ending() == .url(.cancelled))
            user.withLock { $0 = nil }
        }

        @Test func `the last attempt's response is the result`() async throws {
            let server = try LoopbackServer { .response(503, body: "\($0.number)") }
            defer { server.stop() }
            let ending = await client(NotingClock()).begin(server.url("/")).ending()
            #expect(ending == .client(.unacceptableStatus(code: 503, body: Data("3".utf8))))
            #expect(server.requestCount == 3)
        }

        @Test(arguments: ["POST", "PATCH"])
        func `a request that must not be sent twice is not retried`(method: String) async throws {
            let server = try LoopbackServer { _ in .response(503) }
            defer { server.stop() }
            let request = URLRequest(server.url("/")) { $0.httpMethod = method }
            #expect(await client(NotingClock()).begin(request).ending() != .status(200))
            #expect(server.requestCount == 1)
        }

        @Test func `a request that the caller declares repeatable is retried`() async throws {
            let server = try LoopbackServer { $0.number % 2 == 1 ? .response(503) : .response(body: "hello") }
            defer { server.stop() }
            var request = URLRequest.post(server.url("/"), Data("body".utf8))
            let allowing = client(NotingClock()) { $0.retries.methods.insert("POST") }
            #expect(await allowing.begin(request).ending() == .status(200))
            request.setValue("7", forHTTPHeaderField: "Idempotency-Key")
            #expect(await client(NotingClock()).begin(request).ending() == .status(200))
            #expect(server.requests.map(\.body) == Array(repeating: Data("body".utf8), count: 4))
        }

        @Test func `the server's Retry-After is kept to, up to a limit`() async throws {
            let server = try LoopbackServer { request in
                guard request.number == 1 else { return .response(body: "hello") }
                let value = request.path == "/far" ? "3600" : "17"
                return .response(429, headers: ["Retry-After": value])
            }
            defer { server.stop() }
            let clock = NotingClock()
            #expect(try await client(clock).begin(server.url("/near")).text() == "hello")
            #expect(clock.pauses.entries == [.seconds(17)])
            let other = try LoopbackServer { _ in .response(429, headers: ["Retry-After": "3600"]) }
            defer { other.stop() }
            #expect(
                await client(clock).begin(other.url("/")).ending()
                    == .client(.unacceptableStatus(code: 429, body: Data()))
            )
            #expect(other.requestCount == 1)
        }

        @Test func `a kept-alive connection that the server closes is found out at once`() async throws {
            let server = try LoopbackServer {
                $0.path == "/stale" && $0.number == 2 ? [.close] : .response(body: "hello")
            }
            defer { server.stop() }
            let patient = client(NotingClock()) {
                $0.maximumConnectionsPerHost = 1
                $0.deadlines.idle = .seconds(60)
            }
            _ = try await patient.begin(server.url("/first")).get()
            let put = URLRequest(server.url("/stale")) {
                $0.httpMethod = "PUT"
                $0.httpBody = Data("body".utf8)
            }
            #expect(try await patient.begin(put).text() == "hello")
            // libcurl itself may have started another attempt, which was cut short.
            #expect(server.requests.contains { $0.number > 2 && $0.body == Data("body".utf8) }, "\(server.requests)")
        }

        @Test func `a POST on such a connection fails at once, and says that it was not answered`() async throws {
            let server = try LoopbackServer { $0.path == "/stale" ? [.close] : .response(body: "hello") }
            defer { server.stop() }
            let patient = client(NotingClock()) {
                $0.maximumConnectionsPerHost = 1
                $0.deadlines.idle = .seconds(60)
            }
            _ = try await patient.begin(server.url("/first")).get()
            let ending = await patient.begin(.post(server.url("/stale"), Data("body".utf8))).ending()
            #expect(ending == .url(.requestBodyStreamExhausted))
        }

        @Test func `cancelling ends the pause`() async throws {
            let server = try LoopbackServer { _ in .response(503) }
            defer { server.stop() }
            let clock = EndlessClock()
            let client = URLClient.fresh {
                $0.retries.attempts = 2
                $0.retries.clock = clock
            }
            let task = client.begin(server.url("/"))
            await clock.sleeping.value
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
            #expect(client.transport.requestCount == 0)
        }

        @Test func `a request that yields its place lets others run in its pause`() async throws {
            let server = try LoopbackServer { $0.path == "/busy" ? .response(503) : .response(body: "hello") }
            defer { server.stop() }
            let clock = EndlessClock()
            let client = URLClient.fresh {
                $0.maximumRequestsInFlight = 1
                $0.retries.attempts = 2
                $0.retries.clock = clock
                $0.retries.yieldsPlace = true
            }
            let busy = client.begin(server.url("/busy"))
            await clock.sleeping.value
            #expect(try await client.begin(server.url("/")).text() == "hello")
            let closed = client.shutdown()
            #expect(!closed.isFilled)
            busy.cancel()
            #expect(await busy.ending() == .url(.cancelled))
            await closed.value
        }

        @Test(arguments: [
            LoopbackServer.Script([.close]),
            [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .send("5\r\n12345\r\n"), .close],
        ])
        func `an empty reply, and chunks that are cut short, are lost connections and tried again`(
            script: LoopbackServer.Script
        ) async throws {
            let server = try LoopbackServer { $0.number == 1 ? script : .response(body: "hello") }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
            }
            #expect(try await client.begin(server.url("/")).text() == "hello")
            #expect(server.requestCount == 2)
        }
    }
}
