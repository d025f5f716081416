import DeferredCache
import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

/// What a loader sends later sees the task-locals of the code that loaded the request.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LaterTaskLocalsTests {
    private enum Local {
        @TaskLocal static var id = "none"
    }

    /// Notes the task-local with which a request arrives.
    private struct Seeing: HTTPLoader {
        let log: Journal<String>
        let stub: StubLoader

        func load(_ task: HTTPTask) {
            log.add(Local.id)
            stub.load(task)
        }
    }

    private let clock = ManualClock()
    private let log = Journal<String>()
    private let stub = StubLoader()

    private var end: some HTTPLoader { Seeing(log: log, stub: stub) }

    private func load(_ id: String, _ chain: any HTTPLoader) async -> HTTPTask {
        await _Concurrency.Task { Local.$id.withValue(id) { chain.load(.example) } }.value
    }

    /// Completes the only request in flight on a thread without task-locals.
    private func complete(_ status: HTTPStatus, _ headers: HTTPHeaders = [:]) async {
        await onThread { [stub] in _ = stub.tasksInFlight.first?.succeed(status, headers: headers) }
    }

    @Test func `further attempts`() async throws {
        let task = await load("a", Retry(.backoff(attempts: 3), clock: clock) --> end)
        for _ in 0..<2 {
            await complete(503)
            try await clock.waitForSleepers()
            await onThread { [clock] in clock.advance(by: .seconds(60)) }
            try await eventually { stub.tasksInFlight.count == 1 }
        }
        await complete(200)
        #expect(try await task.get().status == .ok)
        #expect(log.entries == ["a", "a", "a"])
    }

    @Test func `requests that wait for their turn`() async throws {
        let chain = Throttle(maximum: 1) --> end
        for id in ["a", "b"] { _ = await load(id, chain) }
        await complete(200)
        #expect(log.entries == ["a", "b"])
        await complete(200)
    }

    @Test func `requests that wait for a token of the bucket`() async throws {
        let chain = RateLimit(requestsPerSecond: 1, clock: clock) --> end
        for id in ["a", "b"] { _ = await load(id, chain) }
        try await clock.waitForSleepers()
        await onThread { [clock] in clock.advance(by: .seconds(1)) }
        try await eventually { log.entries == ["a", "b"] }
        for _ in 0..<2 { await complete(200) }
    }

    @Test func `redirects, and another loader after a failure`() async throws {
        for (chain, status) in [
            (FollowRedirects() --> end, 302),
            (Fallback(to: end) { (try? $0.get())?.status == 503 } --> end, 503),
        ] as [(any HTTPLoader, HTTPStatus)] {
            let task = await load("a", chain)
            await complete(status, ["Location": "/b"])
            await complete(200)
            #expect(try await task.get().status == .ok)
        }
        #expect(log.entries == ["a", "a", "a", "a"])
    }

    @Test func `a request of a plain thread has none, also if a Swift task continues it`() async throws {
        let chain = FollowRedirects() --> end
        let task = await onThread { chain.load(.example) }
        await _Concurrency.Task { [stub] in
            Local.$id.withValue("b") { _ = stub.tasksInFlight.first?.succeed(302, headers: ["Location": "/b"]) }
        }.value
        await complete(200)
        #expect(try await task.get().status == .ok)
        #expect(log.entries == ["none", "none"])
    }

    @Test func `a refresh, the request after it, and those that waited for it`() async throws {
        let fresh = Task<String>.Promise()
        let chain =
            BearerAuthentication(token: "old", hosts: ["example.com"]) { [log] _ in
                log.add("refresh " + Local.id)
                return Task(fresh)
            } --> end
        let first = await load("a", chain)
        await complete(401)
        let second = await load("b", chain)
        await onThread { _ = fresh.succeed(with: "new") }
        for _ in 0..<2 { await complete(200) }
        for task in [first, second] { #expect(try await task.get().status == .ok) }
        #expect(log.entries == ["a", "refresh a", "a", "b"])
    }

    @Test func `a request that has waited for an equal one in the cache`() async throws {
        let chain = Cache(.memory()) --> end
        for id in ["a", "b"] { _ = await load(id, chain) }
        #expect(log.entries == ["a"])
        await complete(200, ["Cache-Control": "no-store"])
        try await eventually { log.entries == ["a", "b"] }
        await complete(200)
    }

    @Test func `a client's answer to a challenge, and its events`() async throws {
        let server = try LoopbackServer { request in
            request.headers["Authorization"] == nil
                ? .response(401, headers: ["WWW-Authenticate": "Bearer"]) : .response()
        }
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.authentication = .custom { [log] _ in
            log.add("answer " + Local.id)
            return .success(.bearer(token: "t"))
        }
        configuration.monitor = { [log] _ in log.add(Local.id) }
        let client = URLClient(configuration: configuration)
        let task = await _Concurrency.Task { Local.$id.withValue("a") { client.begin(server.url("/")) } }.value
        _ = try await task.get()
        #expect(log.entries.contains("answer a"))
        #expect(log.entries.count > 5 && log.entries.allSatisfy { $0.hasSuffix("a") }, "\(log.entries)")
    }

    @Test(arguments: [false, true])
    func `a client's closures about redirects, retries and bodies, also of a plain thread`(isThread: Bool) async throws
    {
        let server = try LoopbackServer { request in
            switch request.number {
            case 1: [.close]
            case 2: .redirect(to: "/b", status: 307)
            default: .response()
            }
        }
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.redirects = .custom { [log] _, proposal in
            log.add("redirect " + Local.id)
            return proposal
        }
        configuration.retries.base = .zero
        configuration.retries.methods = ["POST"]
        configuration.retries.isRetryable = { [log] _ in
            log.add("retry " + Local.id)
            return true
        }
        configuration.retries.random = { [log] in
            log.add("random " + Local.id)
            return 0
        }
        configuration.monitor = { [log] _ in log.add("event " + Local.id) }
        let client = URLClient(configuration: configuration)
        let begin = { @Sendable [log] in
            Local.$id.withValue("a") {
                client.upload(
                    server.url("/"),
                    from: .stream {
                        log.add("stream " + Local.id)
                        return InputStream(data: Data("body".utf8))
                    }
                )
            }
        }
        let task = isThread ? await onThread(begin) : await _Concurrency.Task { begin() }.value
        _ = try await task.get()
        #expect(log.entries.allSatisfy { $0.hasSuffix(" a") }, "\(log.entries)")
        #expect(Set(log.entries) == ["redirect a", "retry a", "random a", "event a", "stream a"])
    }
}
