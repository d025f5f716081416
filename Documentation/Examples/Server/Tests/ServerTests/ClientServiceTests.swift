import Deferred
import DeferredTesting
import Foundation
import Logging
import ServiceLifecycle
import Testing

@testable import Server

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(1)))
struct ClientServiceTests {
    private let client = URLClient()

    private func run() -> (group: ServiceGroup, end: Task<Void>) {
        let group = ServiceGroup(services: [ClientService(client: client)], logger: Logger(label: "test"))
        return (group, Task { try await group.run() })
    }

    @Test func `a graceful shutdown waits for the request in flight, and refuses others`() async throws {
        let (arrived, answer) = (Deferred<Void>(), Deferred<Void>())
        let slow = try LoopbackServer { _ in
            arrived.fill()
            _ = answer.wait()
            return .response()
        }
        let fast = try LoopbackServer { _ in .response() }
        let (group, end) = run()
        let request = client.begin(URLRequest(url: slow.url("/")))
        await arrived.value
        await group.triggerGracefulShutdown()
        await #expect(throws: URLClientError.self) {
            while true { _ = try await client.begin(URLRequest(url: fast.url("/"))).get() }
        }
        #expect(!end.isFilled && !request.isFilled)
        answer.fill()
        try await end.get()
        #expect(try await request.get().1.status == .ok)
    }

    @Test func `cancelling the group cancels the request in flight`() async throws {
        let arrived = Deferred<Void>()
        let server = try LoopbackServer { _ in
            arrived.fill()
            return [.stall]
        }
        let end = run().end
        let request = client.begin(URLRequest(url: server.url("/")))
        await arrived.value
        end.cancel()
        _ = await end.result
        #expect(request.isFilled)
    }
}
