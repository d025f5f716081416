import DeferredCore
import Foundation

/// Sends requests by another engine, unless a cache answers them.
///
/// As an engine, the cache is below everything that a client decides: each attempt, each redirect and each request with
/// another credential comes by, as it would go out. Cookies are stored and sent by the other engine.
final class CachingEngine: Engine {
    let inner: any Engine
    let connection: URLClient.CacheConnection
    let configuration: URLClient.Configuration

    init(_ inner: any Engine, _ connection: URLClient.CacheConnection, _ configuration: URLClient.Configuration) {
        self.inner = inner
        self.connection = connection
        self.configuration = configuration
    }

    var defaultHeaders: [String: String] { inner.defaultHeaders }
    var streamsMessages: Bool { inner.streamsMessages }
    var hasTimeouts: Bool { inner.hasTimeouts }
    var idleTimeout: Duration? { inner.idleTimeout }

    /// A time-out below the cache gives it the time to answer with what is stale.
    var deadlineMargin: Duration { .seconds(1) }
    var invalidated: Future<Void> { inner.invalidated }

    func check(_ url: URL) throws(URLClientError) { try inner.check(url) }

    func checkTrailers() throws(URLClientError) { try inner.checkTrailers() }

    func makeTask(for request: CheckedRequest, of exchange: Exchange, as number: Int) -> any EngineTask {
        CachedTask(request, of: exchange, as: number, in: self)
    }

    func invalidate() { inner.invalidate() }
}
