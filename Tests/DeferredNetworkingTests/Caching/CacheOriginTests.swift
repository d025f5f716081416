import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests through a cache, over an engine that does what the test says.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheOriginTests {
    private let inner: StubEngine
    private let exchanges = Log<Exchange>()
    private let outcome = Deferred<Ending>()
    private let url: URL

    init() throws {
        url = try #require(URL(string: "http://host/"))
        inner = StubEngine { [exchanges] _, exchange, _ in
            exchanges.add(exchange)
            return StubTask()
        }
    }

    private func begin(
        on engine: any Engine,
        onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in }
    ) {
        Exchange.gather(.checked(.post(url, Data("body".utf8))), on: RetainedEngine(engine), onProgress: onProgress) {
            [outcome] in outcome.fill(with: Ending($0))
        }
    }

    private func caching(_ connection: URLClient.CacheConnection) -> CachingEngine {
        CachingEngine(inner, connection, URLClient.Configuration())
    }

    @Test func `what is sent counts as it is sent below, also when that begins again`() async throws {
        let progress = Log<String>()
        begin(on: caching(PassingCache().connect())) {
            if $0.direction == .sent { progress.add("\($0.completed) of \($0.total ?? -1)") }
        }
        let below = try #require(exchanges.entries.first)
        below.receive(.sent(1, of: 4), of: 1)
        below.receive(.sent(2, of: 4), of: 1)
        below.receive(.bodyBegan(), of: 1)
        below.receive(.sent(2, of: 4), of: 1)
        below.receive(.sent(2, of: 4), of: 1)
        #expect(progress.entries == ["1 of 4", "3 of 4", "2 of 4", "4 of 4"])
        let head = ResponseHead.made(200)
        below.receive(.head(head), of: 1)
        below.receive(.ended(head, error: nil), of: 1)
        #expect(await outcome.value == .status(200))
    }

    @Test func `a deadline tells the task that may have a dead connection`() throws {
        let outer = Exchange.gather(.checked(.post(url, Data())), on: RetainedEngine(caching(PassingCache().connect())))
        {
            _ in
        }
        let below = try #require(exchanges.entries.first)
        let task = try #require(below.parts.task as? StubTask)
        outer.cancel(with: URLError(.timedOut))
        #expect(task.log.entries == ["resume", "expire", "cancel"])
    }

    @Test func `a request that is cancelled while its task is made never meets the cache`() {
        let loads = Log<Int>()
        let cache = caching(
            URLClient.CacheConnection { request, _, send in
                loads.add(1)
                return send([:])
            }
        )
        begin(
            on: StubEngine { request, exchange, number in
                exchange.cancel()
                return cache.makeTask(for: request, of: exchange, as: number)
            }
        )
        #expect(outcome.peek() == .url(.cancelled) && loads.entries.isEmpty && exchanges.entries.isEmpty)
    }
}
