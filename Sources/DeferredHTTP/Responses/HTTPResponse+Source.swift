extension HTTPResponse {
    /// The place where a response can come from.
    public enum Source: Sendable, Hashable {
        /// The network: the server, or a proxy on the way to it.
        case network

        /// A ``DeferredCache/Cache``, without asking the server. The age is the time since the server made or confirmed the
        /// response.
        case cache(age: Duration, isStale: Bool)

        /// A ``DeferredCache/Cache``, after the server has confirmed that the stored response is still right.
        case validated(age: Duration)
    }

    /// The reasons for stale responses.
    public enum StaleReason: Sendable, Hashable {
        /// The request accepts it, by ``CachePolicy/anyAge`` or `max-stale`.
        case asked

        /// The server is asked in the background: `stale-while-revalidate`.
        case revalidation

        /// The server can't be reached, or has an error of its own.
        case error

        /// The response was stale when it arrived, and was fetched for this request, too.
        case fetched
    }
}
