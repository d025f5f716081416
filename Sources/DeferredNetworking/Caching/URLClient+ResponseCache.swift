extension URLClient {
    /// A cache that answers requests of a client: a `Cache` of DeferredCache.
    ///
    /// ```swift
    /// var configuration = URLClient.Configuration()
    /// configuration.cache = Cache(.memory())
    /// ```
    ///
    /// A type of one's own can conform by returning the connection of a `Cache`; there is no other.
    public protocol ResponseCache: Sendable {
        /// Returns the connection by which a client uses the cache, and retains it.
        func connect() -> CacheConnection
    }

    /// The connection between a client and a ``ResponseCache``.
    public struct CacheConnection: Sendable {
        /// Answers a task's request, or sends it.
        package let load: @Sendable (CachedTask) -> Void

        package init(load: @escaping @Sendable (CachedTask) -> Void) {
            self.load = load
        }
    }
}
