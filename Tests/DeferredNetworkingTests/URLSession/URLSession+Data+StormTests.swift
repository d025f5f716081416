import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionTests {
    @Suite("Storms", .alone)
    struct Storm {
        /// The number of requests of each of ten workers.
        private static let count = isSanitized ? 40 : isThorough ? 250 : 100
        private static let paths = ["/ok", "/redirect", "/loop", "/basic", "/big", "/reset", "/stall"]

        private func delegate() -> DecidingDelegate {
            DecidingDelegate(challenge: { _ in
                (.useCredential, URLCredential(user: "me", password: "secret", persistence: .none))
            })
        }

        @Test(arguments: [1, 2])
        func `thousands of requests cancelled at random moments end once each, and the session still works`(
            seed: UInt64
        ) async throws {
            let server = try LoopbackServer.forStorms(bodySize: 100_000)
            defer { server.stop() }
            let session = URLSession.fresh(delegate: delegate())
            try await storm(over: session, on: server, seed: seed)
            #expect(try await session.beginDataTask(with: server.url("/basic")).text() == "welcome")
        }

        /// Uses the shared cache and cookies, and no delegate that answers challenges.
        @Test func `thousands of requests on the shared session end once each`() async throws {
            let server = try LoopbackServer.forStorms(bodySize: 100_000)
            defer { server.stop() }
            try await storm(over: .shared, on: server, seed: 3)
            #expect(await URLSession.shared.beginDataTask(with: server.url("/basic")).ending() == .status(401))
        }

        private func storm(over session: URLSession, on server: LoopbackServer, seed: UInt64) async throws {
            let endings = Log<Ending>()
            await withTaskGroup { group in
                for worker in 0..<10 {
                    group.addTask {
                        var random = SeededGenerator(seed: seed * 100 + UInt64(worker))
                        for _ in 0..<Self.count {
                            let path = Self.paths[Int.random(in: 0..<Self.paths.count, using: &random)]
                            let task = session.beginDataTask(with: .post(server.url(path), Data("body".utf8)))
                            task.upon(.immediate) { endings.add(Ending($0)) }
                            await giveWay(using: &random)
                            task.cancel()
                            _ = await task.failure()
                        }
                    }
                }
            }
            #expect(endings.entries.count == 10 * Self.count)
            let expected: [Ending] = [
                .status(200), .status(401), .url(.cancelled), .url(.networkConnectionLost), .url(.httpTooManyRedirects),
            ]
            #expect(endings.entries.filter { !expected.contains($0) } == [])
            #expect(endings.entries.contains(.url(.cancelled)))
            #expect(try await session.beginDataTask(with: server.url("/redirect")).text() == "hello")
        }

        @Test func `hundreds of downloads cancelled at random moments leave whole files or none`() async throws {
            let server = try LoopbackServer.forStorms(bodySize: 100_000)
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let session = URLSession.fresh(delegate: delegate())
            await withTaskGroup { group in
                for worker in 0..<5 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(worker))
                        for round in 0..<60 {
                            let path = ["/big", "/stall", "/redirect"][round % 3]
                            let file = folder.url.appending(path: "\(worker)-\(round)")
                            let task = session.beginDownloadTask(with: server.url(path), to: file)
                            await giveWay(using: &random)
                            task.cancel()
                            let isComplete = await task.failure() == nil
                            let size = (try? Data(contentsOf: file))?.count
                            #expect(size == (isComplete ? (path == "/big" ? 100_000 : 5) : nil))
                        }
                    }
                }
            }
            try await eventually { (try? folder.contents().allSatisfy { !$0.contains("partial") }) == true }
        }
    }
}
