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
    @Suite("Deadlines")
    struct Deadlines {
        private static let head: LoopbackServer.Payload = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

        @Test(arguments: [
            LoopbackServer.Script([.stall]), [.send(head), .stall], [.send(head), .send("12345"), .stall],
        ])
        func `silence of a fraction of a second ends an attempt`(script: LoopbackServer.Script) async throws {
            let server = try LoopbackServer { _ in script }
            defer { server.stop() }
            let client = URLClient.fresh { $0.deadlines.idle = .milliseconds(80) }
            let error = await client.begin(server.url("/")).failure() as? URLError
            #expect(error?.code == .timedOut)
            #expect(error?.failingURL == server.url("/"))
        }

        @Test func `silence after a redirect is that of its target`() async throws {
            let server = try LoopbackServer { $0.path == "/old" ? .redirect(to: "/new") : [.stall] }
            defer { server.stop() }
            let client = URLClient.fresh { $0.deadlines.idle = .milliseconds(80) }
            let error = await client.begin(server.url("/old")).failure() as? URLError
            #expect(error?.code == .timedOut && error?.failingURL == server.url("/new"))
        }

        @Test func `bytes now and then are no silence, however long they take together`() async throws {
            let (port, clock) = (try PromptedPort(), ManualClock())
            let client = URLClient.fresh {
                $0.deadlines.idle = .seconds(1)
                $0.deadlineClock = clock
            }
            let task = client.stream(port.url)
            port.receiveRequest()
            port.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            port.send("0")
            var bytes = try await task.get().body.makeAsyncIterator()
            #expect(try await bytes.next() == Data("0".utf8))
            for number in 1...9 {
                clock.advance(by: .milliseconds(900))
                port.send("\(number)")
                #expect(try await bytes.next() == Data("\(number)".utf8))
            }
            clock.advance(by: .seconds(1))
            let error = await #expect(throws: URLError.self) { try await bytes.next() }
            #expect(error?.code == .timedOut)
        }

        @Test func `a request's own time-out replaces the idle deadline`() async throws {
            let server = try LoopbackServer { _ in [.stall] }
            defer { server.stop() }
            let request = URLRequest(server.url("/")) { $0.timeoutInterval = 0.08 }
            #expect(await URLClient.fresh().begin(request).ending() == .url(.timedOut))
        }

        @Test func `an idle deadline of the request's options replaces its own time-out`() async throws {
            let server = try LoopbackServer { _ in .response(body: "late").delayed(by: .milliseconds(300)) }
            defer { server.stop() }
            let request = URLRequest(server.url("/")) { $0.timeoutInterval = 0.05 }
            let options = URLClient.RequestOptions(idle: .seconds(20))
            #expect(try await URLClient.fresh().begin(request, options: options).text() == "late")
        }

        @Test func `a head that comes too late ends an attempt, and a late body does not`() async throws {
            let (ports, clock) = ([try PromptedPort(), try PromptedPort()], ManualClock())
            let client = URLClient.fresh {
                $0.deadlines.connectToHead = .milliseconds(1_500)
                $0.deadlineClock = clock
            }
            let late = client.begin(ports[0].url)
            let task = client.stream(ports[1].url)
            for port in ports { port.receiveRequest() }
            ports[1].send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            ports[1].send("12345")
            var body = try await task.get().body.makeAsyncIterator()
            #expect(try await body.next() == Data("12345".utf8))
            clock.advance(by: .milliseconds(1_500))
            #expect(await late.ending() == .url(.timedOut))
            // The other request's timer has come as well, and waits for the idle deadline now.
            try await eventually { clock.nextDeadline == .init(offset: .seconds(60)) }
            ports[1].send("67890")
            #expect(try await body.next() == Data("67890".utf8))
            #expect(try await body.next() == nil)
        }

        @Test func `the total deadline ends an endless request`() async throws {
            let drip = LoopbackServer.Script.Step.drip(.pattern(count: 1_000), size: 1, every: .milliseconds(20))
            let server = try LoopbackServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), drip] }
            defer { server.stop() }
            let client = URLClient.fresh { $0.deadlines.total = .milliseconds(150) }
            #expect(await client.begin(server.url("/")).ending() == .client(.deadlineExceeded))
            try await eventually { client.transport.transferCount == 0 }
        }

        @Test func `the total deadline holds for a request that waits for its turn`() async throws {
            let server = try LoopbackServer { _ in [.stall] }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.maximumRequestsInFlight = 1
                $0.deadlines.total = .milliseconds(150)
            }
            let tasks = [client.begin(server.url("/")), client.begin(server.url("/"))]
            for task in tasks {
                #expect(await task.ending() == .client(.deadlineExceeded))
            }
        }

        @Test(arguments: [Duration.zero, .nanoseconds(1), .microseconds(1), .microseconds(100), .milliseconds(1)])
        func `a total deadline that ends requests while they begin leaves the client as it was`(
            total: Duration
        ) async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.deadlines.total = total
                $0.maximumRequestsInFlight = 1
            }
            for _ in 0..<(isSanitized ? 200 : 2_000) {
                // A late deadline lets some requests succeed.
                _ = await client.begin(server.url("/")).ending()
            }
            try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
            await client.shutdown().value
        }

        @Test(arguments: [Duration.zero, .seconds(-5), .seconds(Int64.min)])
        func `a deadline of no time sends nothing`(limit: Duration) async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            for deadline in [\URLClient.Deadlines.total, \.idle, \.connectToHead] {
                let client = URLClient.fresh { $0.deadlines[keyPath: deadline] = limit }
                for method in ["GET", "POST"] {
                    let request = URLRequest(server.url("/")) { $0.httpMethod = method }
                    for _ in 0..<20 {
                        let end = await client.begin(request).ending()
                        #expect(end == (deadline == \.total ? .client(.deadlineExceeded) : .url(.timedOut)))
                    }
                }
                #expect(client.transport.requestCount == 0 && client.transport.transferCount == 0)
                await client.shutdown().value
            }
            #expect(server.connectionCount == 0)
        }

        @Test func `deadlines and pauses that no clock can hold never come`() async throws {
            let server = try LoopbackServer { request in
                request.number == 1 ? .response(503) : .response(body: "hello")
            }
            defer { server.stop() }
            let retries = Log<Void>()
            let client = URLClient.fresh {
                $0.deadlines = .init(
                    idle: .seconds(Int64.max),
                    connectToHead: .seconds(Int64.max),
                    total: .seconds(Int64.max)
                )
                $0.retries.attempts = 2
                $0.retries.base = .seconds(Int64.max)
                $0.retries.cap = .seconds(Int64.max)
                $0.retries.longestRetryAfter = .seconds(Int64.max)
                $0.retries.random = { 0.999 }
                $0.monitor = { if case .retried = $0.kind { retries.add(()) } }
            }
            let pausing = client.begin(server.url("/"))
            try await eventually { retries.entries.count == 1 }
            pausing.cancel()
            for timeout in [TimeInterval.greatestFiniteMagnitude, 1e20] {
                let request = URLRequest(server.url("/")) { $0.timeoutInterval = timeout }
                #expect(try await client.begin(request).text() == "hello")
                let stream = try await client.stream(request).get()
                #expect(stream.head.status == 200)
                let folder = try TemporaryDirectory()
                #expect(await client.download(request, to: folder.file).ending() == .status(200))
            }
        }

        @Test func `the session's time-out for resources is a total deadline`() async throws {
            let server = try LoopbackServer { _ in [.send(Self.head), .stall] }
            defer { server.stop() }
            let session = URLSessionConfiguration.ephemeral
            session.timeoutIntervalForResource = 0.2
            let client = URLClient.fresh { $0.session = session }
            #expect(await client.begin(server.url("/")).ending() == .client(.deadlineExceeded))
        }
    }
}
