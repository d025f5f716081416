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
    @Suite("Shutting down")
    struct Shutdown {
        @Test func `running and waiting requests end, new ones are refused, and connections close`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello").delayed(by: .milliseconds(30)) }
            defer { server.stop() }
            let client = URLClient.fresh { $0.maximumRequestsInFlight = 1 }
            let tasks = (0..<3).map { _ in client.begin(server.url("/")) }
            let closed = client.shutdown()
            #expect(await client.begin(server.url("/")).ending() == .client(.shutDown))
            await closed.value
            for task in tasks {
                guard case .success = task.peek() else {
                    Issue.record("not ended")
                    continue
                }
            }
            try await eventually { server.openConnectionCount == 0 }
            await client.shutdown().value
        }

        @Test func `the clean-up after an upload that is cancelled is waited for`() async throws {
            let server = try LoopbackServer { request in
                request.method == "PUT" ? [.stall] : .response(204).delayed(by: .milliseconds(30))
            }
            defer { server.stop() }
            let client = URLClient.fresh()
            let uploads = (0..<4).map { number in
                client.begin(URLRequest(server.url("/key?part=\(number)")) { $0.httpMethod = "PUT" })
            }
            let ended = Log<String>()
            let upload = client.keepOpen(
                for: uploads.allSucceeded().always { result in
                    guard case .failure = result else { return }
                    // One after the other, so that the last begins long after the client is told to shut down.
                    for _ in 0..<3 {
                        let abort = URLRequest(server.url("/key?upload")) { $0.httpMethod = "DELETE" }
                        let status = try? await client.begin(abort).get().1.status
                        ended.add("\(status?.code ?? 0)")
                    }
                }
            )
            try await eventually { server.requestCount == 4 }
            upload.cancel()
            await client.shutdown().value
            #expect(ended.entries == ["204", "204", "204"] && upload.isFilled)
            #expect(await client.begin(server.url("/")).ending() == .client(.shutDown))
        }

        @Test func `what waits isn't sent when all is cancelled, in whatever order the hosts take turns`() async throws
        {
            // The first is answered when the others wait, or there are no turns to take.
            let areBegun = Deferred<Void>()
            let server = try LoopbackServer { request in
                areBegun.wait()
                return request.number <= 2 ? .response(200) : [.stall]
            }
            defer {
                areBegun.fill()
                server.stop()
            }
            let client = URLClient.fresh { $0.maximumRequestsInFlight = 1 }
            var other = try #require(URLComponents(url: server.url("/4"), resolvingAgainstBaseURL: false))
            other.host = "localhost"
            let urls = [server.url("/1"), server.url("/2"), server.url("/3"), try #require(other.url)]
            let tasks = urls.map { client.begin($0) }
            areBegun.fill()
            try await eventually { server.requests.map(\.path) == ["/1", "/2", "/4"] }
            await client.invalidateAndCancel().value
            #expect(tasks.allSatisfy(\.isFilled) && server.requestCount == 3)
        }

        @Test func `work whose result is lost is over`() async throws {
            let client = URLClient.fresh()
            do {
                let deferred = Deferred<Task<Int>.Result>()
                client.keepOpen(for: Task(deferred))
            }
            await client.shutdown().value
        }

        @Test func `invalidating ends everything at once`() async throws {
            let server = try LoopbackServer {
                $0.path == "/stream" ? .response(body: "1", contentLength: 2) + [.stall] : [.stall]
            }
            defer { server.stop() }
            let client = URLClient.fresh()
            let response = try await client.stream(URLRequest(url: server.url("/stream"))).get()
            let tasks = (0..<20).map { _ in client.begin(server.url("/")) }
            let closed = client.invalidateAndCancel()
            for task in tasks {
                guard case .failure(let error as URLClientError) = try #require(task.peek()), error == .shutDown else {
                    Issue.record("not ended")
                    continue
                }
            }
            await #expect(throws: URLClientError.shutDown) { for try await _ in response.body {} }
            await closed.value
            #expect(client.transport.requestCount == 0 && client.transport.transferCount == 0)
            #expect(await client.begin(server.url("/")).ending() == .client(.shutDown))
        }

        @Test func `a client may shut down while its session removes the last tasks`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            for _ in 0..<100 {
                let client = URLClient.fresh { $0.maximumConnectionsPerHost = 8 }
                let tasks = (0..<16).map { _ in client.begin(server.url("/")) }
                await client.shutdown().value
                #expect(tasks.allSatisfy { (try? $0.peek()?.get()) != nil })
            }
        }

        @Test func `an idle client shuts down`() async {
            await URLClient.fresh().shutdown().value
            await URLClient.fresh().invalidateAndCancel().value
        }

        @Test func `cancelling all leaves a client that works`() async throws {
            let server = try LoopbackServer { $0.path == "/" ? [.stall] : .response(body: "hello") }
            defer { server.stop() }
            let client = URLClient.fresh { $0.maximumRequestsInFlight = 5 }
            let tasks = (0..<50).map { _ in client.begin(server.url("/")) }
            client.cancelAll()
            for task in tasks {
                guard case .failure(let error as URLError) = try #require(task.peek()) else {
                    Issue.record("not ended")
                    continue
                }
                #expect(error.code == .cancelled)
            }
            #expect(try await client.begin(server.url("/next")).text() == "hello")
        }

        @Test func `a client that is dropped lets its requests end, and closes its connections`() async throws {
            let arrived = Deferred<Void>()
            let dropped = Deferred<Void>()
            let server = try LoopbackServer { _ in
                arrived.fill()
                dropped.wait()
                return .response(body: "hello")
            }
            defer { server.stop() }
            weak var transport: Transport?
            let task: Task<(Data, ResponseHead)>
            do {
                let client = URLClient.fresh()
                transport = client.transport
                task = client.begin(server.url("/"))
                await arrived.value
            }
            dropped.fill()
            #expect(try await task.text() == "hello")
            try await eventually { transport == nil && server.openConnectionCount == 0 }
        }

        @Test func `beginning while another thread invalidates never traps`() async throws {
            let server = try LoopbackServer { $0.path == "/redirect" ? .redirect(to: "/") : .response(body: "hello") }
            defer { server.stop() }
            for round in 0..<40 {
                let client = URLClient.fresh()
                let tasks = Log<Task<(Data, ResponseHead)>>()
                race(3) { index in
                    if index == 0 {
                        if round % 2 == 0 { client.invalidateAndCancel() } else { client.shutdown() }
                    } else {
                        tasks.add(client.begin(server.url("/redirect")))
                    }
                }
                for task in tasks.entries {
                    let ending = await task.ending()
                    #expect([.status(200), .client(.shutDown)].contains(ending))
                }
                await client.shutdown().value
            }
        }

        @Test func `requests in flight are limited, and hosts take turns`() async throws {
            let running = Lock<(now: Int, most: Int)>((0, 0))
            let order = Log<String>()
            let allBegan = Deferred<Void>()
            let server = try LoopbackServer { request in
                allBegan.wait()
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                order.add(request.path)
                defer { running.withLock { $0.now -= 1 } }
                return .response(body: "hello")
            }
            defer { server.stop() }
            let client = URLClient.fresh { $0.maximumRequestsInFlight = 1 }
            let near = (0..<10).map { _ in client.begin(server.url("/near")) }
            let far = try #require(URL(string: "http://localhost:\(server.port)/far"))
            let last = client.begin(far)
            allBegan.fill()
            #expect(await last.ending() == .status(200))
            for task in near {
                #expect(await task.ending() == .status(200))
            }
            #expect(running.withLock { $0.most } == 1)
            #expect(order.entries.firstIndex(of: "/far") ?? .max < 3)
        }
    }
}
