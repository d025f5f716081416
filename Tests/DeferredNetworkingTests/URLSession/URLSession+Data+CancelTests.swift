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
    @Suite("Cancelling")
    struct Cancelling {
        typealias Response = (Data, URLResponse)

        private static let halfBody: LoopbackServer.Script = .response(body: "12345", contentLength: 10) + [.stall]

        /// Cancels, and checks that there is exactly one result, which is a cancellation.
        private func check(_ task: Task<Response>, failing url: URL, cancel: () -> Void) async throws {
            let ends = Log<Ending>()
            task.upon(.immediate) { ends.add(Ending($0)) }
            #expect(!task.isCancelled)
            cancel()
            let error = await task.failure() as? URLError
            #expect(error?.code == .cancelled)
            #expect(error?.failingURL == url)
            #expect(error?.isCancellation == true)
            #expect(task.isCancelled)
            task.cancel()
            #expect(ends.entries == [.url(.cancelled)])
        }

        @Test func `before it starts`() async throws {
            let server = try LoopbackServer { _ in [.stall] }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            try await check(task, failing: server.url("/")) { task.cancel() }
        }

        @Test func `while it connects`() async throws {
            let port = try UnansweringPort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
            let started = Deferred<Void>()
            let task = URLSession.fresh().beginDataTask(with: url) { _ in started.fill(with: ()) }
            await started.value
            var random = SeededGenerator(seed: 1)
            await giveWay(using: &random)
            #expect(task.peek() == nil)
            try await check(task, failing: url) { task.cancel() }
        }

        @Test func `while it waits for the head, which closes the connection`() async throws {
            let arrived = Deferred<Void>()
            let server = try LoopbackServer { _ in
                arrived.fill(with: ())
                return [.stall]
            }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            await arrived.value
            try await check(task, failing: server.url("/")) { task.cancel() }
            try await eventually { server.openConnectionCount == 0 }
        }

        @Test func `in the middle of the body, which closes the connection`() async throws {
            let server = try LoopbackServer { _ in Self.halfBody }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            try await eventually { task.progress.fractionCompleted > 0 }
            try await check(task, failing: server.url("/")) { task.cancel() }
            try await eventually { server.openConnectionCount == 0 }
        }

        @Test func `after the end, which changes nothing`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            #expect(await task.ending() == .status(200))
            task.cancel()
            #expect(!task.isCancelled)
            #expect(try await task.text() == "hello")
        }

        @Test func `from many threads at once`() async throws {
            let server = try LoopbackServer { _ in Self.halfBody }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            try await check(task, failing: server.url("/")) { race(8) { _ in task.cancel() } }
        }

        @Test func `through a derived task`() async throws {
            let server = try LoopbackServer { _ in Self.halfBody }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            let size = task.map { data, _ in data.count }
            try await eventually { server.requestCount > 0 }
            try await check(task, failing: server.url("/")) { size.cancel() }
            #expect(await size.failure() is CancellationError)
            try await eventually { server.openConnectionCount == 0 }
        }

        @Test func `through the second request of a flatMap`() async throws {
            let arrived = Deferred<Void>()
            let server = try LoopbackServer { request in
                if request.path == "/first" { return .response(body: "next") }
                arrived.fill(with: ())
                return [.stall]
            }
            defer { server.stop() }
            let session = URLSession.fresh()
            let task = session.beginDataTask(with: server.url("/first")).flatMap { data, _ in
                session.beginDataTask(with: server.url("/" + String(decoding: data, as: UTF8.self)))
            }
            await arrived.value
            try await check(task, failing: server.url("/next")) { task.cancel() }
        }

        @Test func `through the Swift task that awaits it`() async throws {
            let server = try LoopbackServer { _ in Self.halfBody }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            let waiting = _Concurrency.Task { try await task.get() }
            try await eventually { server.requestCount > 0 }
            try await check(task, failing: server.url("/")) { waiting.cancel() }
        }

        @Test func `through its progress`() async throws {
            let server = try LoopbackServer { _ in Self.halfBody }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            try await eventually { task.progress.fractionCompleted > 0 }
            let ends = Log<Ending>()
            task.upon(.immediate) { ends.add(Ending($0)) }
            task.progress.cancel()
            #expect(await task.ending() == .url(.cancelled))
            #expect(ends.entries == [.url(.cancelled)])
            try await eventually { server.openConnectionCount == 0 }
        }
    }
}
