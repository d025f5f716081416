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
    @Suite("Streaming")
    struct Stream {
        private func text(_ response: StreamingResponse) async throws -> String {
            var result = Data()
            for try await bytes in response.body {
                result += bytes
            }
            return String(decoding: result, as: UTF8.self)
        }

        @Test func `the head comes first and the body as it is sent`() async throws {
            let server = try LoopbackServer { _ in
                .response(body: "hello ", contentLength: 11) + [.pause(.milliseconds(50)), .send("world")]
            }
            defer { server.stop() }
            let response = try await URLClient.fresh().stream(URLRequest(url: server.url("/"))).get()
            #expect(response.head.status == 200)
            #expect(try await text(response) == "hello world")
        }

        @Test func `a body without an end is read until it is given up`() async throws {
            let server = try LoopbackServer { _ in
                .repeating(
                    [
                        .send("HTTP/1.1 200 OK\r\n\r\n"),
                        .drip(.pattern(count: 100_000), size: 10, every: .milliseconds(2)),
                    ],
                    count: 1
                )
            }
            defer { server.stop() }
            let client = URLClient.fresh()
            var count = 0
            do {
                let response = try await client.stream(URLRequest(url: server.url("/"))).get()
                for try await bytes in response.body {
                    count += bytes.count
                    if count > 50 { break }
                }
            }
            #expect(count > 50)
            try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
        }

        @Test func `a stream that nobody reads ends when it is dropped`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.stall] }
            defer { server.stop() }
            let client = URLClient.fresh()
            _ = try await client.stream(URLRequest(url: server.url("/"))).get()
            try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
        }

        @Test(arguments: [1_000, 100_000_000])
        func `unread bytes wait in memory and in a file`(bufferSize: Int) async throws {
            let server = try LoopbackServer { _ in .response(body: .pattern(count: 3_000_000)) }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.streamBufferSize = bufferSize
                // The default limit would hold up the sender.
                if isLibcurlTested { $0.streamBufferLimit = .max }
            }
            let task = client.stream(URLRequest(url: server.url("/")))
            let response = try await task.get()
            try await eventually { client.transport.requestCount == 0 }
            var received = Data()
            for try await bytes in response.body {
                received += bytes
            }
            let isSame = received == LoopbackServer.Payload.patternBytes(0..<3_000_000)
            #expect(isSame)
            #expect(task.progress.fractionCompleted == 1)
        }

        @Test func `a truncated body throws after the bytes that arrived`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.close] }
            defer { server.stop() }
            let response = try await URLClient.fresh().stream(URLRequest(url: server.url("/"))).get()
            var received = Data()
            let error = await #expect(throws: URLClientError.self) {
                for try await bytes in response.body {
                    received += bytes
                }
            }
            #expect(error == .truncatedBody(received: 5, expected: 10))
            #expect(received == Data("12345".utf8))
        }

        @Test func `a deadline ends the body`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.stall] }
            defer { server.stop() }
            let clock = ManualClock()
            let client = URLClient.fresh {
                $0.deadlines.total = .milliseconds(150)
                $0.deadlineClock = clock
            }
            let response = try await client.stream(URLRequest(url: server.url("/"))).get()
            clock.advance(by: .milliseconds(150))
            await #expect(throws: URLClientError.deadlineExceeded) { try await text(response) }
        }

        @Test func `a status that is not accepted fails with its body`() async throws {
            let server = try LoopbackServer { _ in .response(404, body: "nothing here") }
            defer { server.stop() }
            let error = await URLClient.fresh().stream(URLRequest(url: server.url("/"))).failure() as? URLClientError
            #expect(error == .unacceptableStatus(code: 404, body: Data("nothing here".utf8)))
        }

        @Test func `attempts and credentials come before the head`() async throws {
            let server = try LoopbackServer { request in
                switch request.number {
                case 1: .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: "denied")
                case 2: .response(503, body: "later")
                case 3: [.reset]
                default: .response(body: "hello")
                }
            }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
                $0.validation = .any
                $0.authentication = .basic(user: "me", password: "secret")
            }
            #expect(try await text(client.stream(URLRequest(url: server.url("/"))).get()) == "hello")
        }

        @Test func `the last attempt's response is streamed whatever its status`() async throws {
            let server = try LoopbackServer { _ in .response(503, body: "later") }
            defer { server.stop() }
            let client = URLClient.fresh { $0.validation = .any }
            let response = try await client.stream(URLRequest(url: server.url("/"))).get()
            #expect(response.head.status == 503)
            #expect(try await text(response) == "later")
        }

        @Test func `a reader that is cancelled throws, and the transfer ends with the stream`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.stall] }
            defer { server.stop() }
            let client = URLClient.fresh()
            let response = try await client.stream(URLRequest(url: server.url("/"))).get()
            let isReading = Deferred<Void>()
            let reader = _Concurrency.Task {
                var count = 0
                for try await bytes in response.body {
                    count += bytes.count
                    isReading.fill()
                }
            }
            await isReading.value
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            #expect(client.transport.requestCount == 1)
            response.body.cancel()
            try await eventually { client.transport.requestCount == 0 }
            await #expect(throws: (any Error).self) { try await text(response) }
        }

        @Test func `a 503 without end that is to be tried again is read up to 64 KiB`() async throws {
            let server = try LoopbackServer { request in
                // At a pace that leaves the client time to end the transfer, where it can't hold the server up.
                request.number == 1
                    ? .response(503, body: .pattern(count: 1 << 40)).dripped(16 << 10, every: .milliseconds(2))
                    : .response(body: "hello")
            }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.validation = .any
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
            }
            let response = try await client.stream(URLRequest(url: server.url("/"))).get()
            #expect(response.head.status == 200)
            #expect(server.requestCount == 2)
        }
    }
}
