import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClientTests {
    /// Tests that hold up the requests of all others.
    @Suite("Storms", .alone)
    struct Storm {
        private static let paths = ["/ok", "/redirect", "/loop", "/basic", "/big", "/reset", "/stall", "/busy"]

        /// The number of requests; smaller under a sanitizer, where each takes many times as long.
        private static let count = isSanitized ? 1_000 : isThorough ? 20_000 : 8_000

        private func begin(
            _ number: Int,
            on client: URLClient,
            at url: URL,
            in folder: TemporaryDirectory,
            _ endings: Endings
        ) -> any Cancellable {
            let request = URLRequest(url: url)
            switch number % 8 {
            case 0:
                let task = client.download(request, to: folder.url.appending(path: "\(number)"), resuming: false)
                task.upon(.immediate) { endings.add($0.map { _ in }) }
                return task
            case 1, 2:
                let task = client.stream(request)
                task.upon(.immediate) { endings.add($0.map { _ in }) }
                return task
            case 3:
                let put = URLRequest(url, { $0.httpMethod = "PUT" })
                let task = client.upload(put, from: .data(Data("body".utf8)))
                task.upon(.immediate) { endings.add($0.map { _ in }) }
                return task
            default:
                let task = client.begin(request)
                task.upon(.immediate) { endings.add($0.map { _ in }) }
                return task
            }
        }

        /// Waits until a few more requests have arrived, or for a number of turns in case all of them stall.
        private func waitForOthers(_ server: LoopbackServer, using random: inout SeededGenerator) async {
            let target = server.requestCount + Int.random(in: 0..<6, using: &random)
            await giveWay(turns: 800) { server.requestCount < target }
        }

        /// Counts the requests that have ended, and the cancelled ones among them.
        private final class Endings: Sendable {
            let count = Atomic(0)
            let cancelled = Atomic(0)

            func add(_ result: Result<Void, any Error>) {
                if case .failure(let error as URLError) = result, error.code == .cancelled {
                    cancelled.add(1, ordering: .relaxed)
                }
                // Releases the count above to the loop that waits for all.
                count.add(1, ordering: .releasing)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `requests cancelled at random moments end once each, and the client still works`() async throws {
            let server = try LoopbackServer.forStorms(bodySize: 30_000)
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let endings = Endings()
            weak var transport: Transport?
            do {
                let client = URLClient.fresh {
                    $0.authentication = .basic(user: "me", password: "secret")
                    $0.maximumRequestsInFlight = 24
                    $0.retries.attempts = 2
                    $0.retries.clock = NotingClock()
                }
                transport = client.transport
                let workers = 8
                await withTaskGroup { group in
                    for worker in 0..<workers {
                        group.addTask {
                            var random = SeededGenerator(seed: UInt64(worker))
                            var running: [any Cancellable] = []
                            for round in 0..<Self.count / workers {
                                let number = round * workers + worker
                                let path = Self.paths[Int.random(in: 0..<Self.paths.count, using: &random)]
                                running.append(begin(number, on: client, at: server.url(path), in: folder, endings))
                                await waitForOthers(server, using: &random)
                                while running.count > Int.random(in: 0..<8, using: &random) {
                                    running.remove(at: Int.random(in: 0..<running.count, using: &random)).cancel()
                                }
                            }
                            for task in running { task.cancel() }
                        }
                    }
                }
                try await eventually { endings.count.load(ordering: .acquiring) == Self.count }
                #expect(endings.cancelled.load(ordering: .relaxed) > Self.count / 10)
                // Not all requests ended in the queue: many reached the server.
                #expect(server.requestCount > Self.count / 10)
                try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
                #expect(try await client.begin(server.url("/redirect")).text() == "hello")
                #expect(try await client.begin(server.url("/basic")).text() == "welcome")
            }
            try await eventually { transport == nil && server.openConnectionCount == 0 }
            #expect(endings.count.load(ordering: .acquiring) == Self.count)
            try await eventually { (try? folder.contents().allSatisfy { !$0.contains("partial") }) == true }
        }

        @Test func `a deadline holds while the queue of all sessions is blocked`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let gate = Deferred<Void>()
            URLSessionEngine.control.async { gate.wait() }
            let client = URLClient.fresh {
                $0.engine = .urlSession
                $0.deadlines.total = .milliseconds(50)
            }
            #expect(await client.begin(server.url("/")).ending() == .client(.deadlineExceeded))
            gate.fill()
        }
    }
}
