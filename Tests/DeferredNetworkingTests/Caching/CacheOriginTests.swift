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
    private let inner = ScriptedEngine()
    private let outcome = Deferred<Ending>()
    private let url: URL

    init() throws {
        url = try #require(URL(string: "http://host/"))
    }

    private func begin(
        on engine: any Engine,
        onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in }
    ) {
        Exchange.gather(.checked(.post(url, Data("body".utf8))), on: EngineLease(engine), onProgress: onProgress) {
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
        let below = try #require(inner.exchanges.entries.first)
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

    @Test func `a request that is cancelled while its task is made never meets the cache`() {
        let loads = Log<Int>()
        let cache = caching(URLClient.CacheConnection { _ in loads.add(1) })
        begin(on: CancellingEngine(cache))
        #expect(outcome.peek() == .url(.cancelled) && loads.entries.isEmpty && inner.exchanges.entries.isEmpty)
    }
}

/// Makes tasks that do nothing.
private final class ScriptedEngine: Engine {
    let defaultHeaders: [String: String] = [:]
    let invalidated = Future<Void>.never
    let hasTimeouts = false
    let exchanges = Log<Exchange>()

    func checkHost(of url: URL) {}

    func makeTask(
        for request: CheckedRequest,
        of exchange: Exchange,
        as number: Int,
        configure: EngineTaskConfiguration?
    ) -> any EngineTask {
        exchanges.add(exchange)
        return IdleTask()
    }

    func invalidate() {}
}

private final class IdleTask: EngineTask {
    func resume() {}
    func cancel() {}
    func hold(while isHeld: @escaping @Sendable () -> Bool) {}
    func took(_ count: Int) {}
}

/// Cancels each exchange before its task is made by another engine.
private final class CancellingEngine: Engine {
    let defaultHeaders: [String: String] = [:]
    let invalidated = Future<Void>.never
    let hasTimeouts = false
    private let inner: any Engine

    init(_ inner: any Engine) {
        self.inner = inner
    }

    func checkHost(of url: URL) {}

    func makeTask(
        for request: CheckedRequest,
        of exchange: Exchange,
        as number: Int,
        configure: EngineTaskConfiguration?
    ) -> any EngineTask {
        exchange.cancel()
        return inner.makeTask(for: request, of: exchange, as: number, configure: configure)
    }

    func invalidate() {}
}
