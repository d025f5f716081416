package import DeferredTask

extension URLClient {
    /// A cache that answers requests of a client: a `Cache` of DeferredCache, which this module doesn't know.
    package protocol ResponseCache: Sendable {
        /// Returns the connection by which a client uses the cache, and retains it.
        func connect() -> CacheConnection
    }

    /// The connection between a client and a ``ResponseCache``.
    package struct CacheConnection: Sendable {
        /// The head of a response, when it is there, and the body, which may be on its way.
        package typealias Response = Task<(ResponseHead, HTTPBodyStream)>

        /// Sends a request with other header fields, of which there are at least its own. Can be called also when the
        /// client's own request has ended.
        package typealias Sender = @Sendable (HTTPHeaders) -> Response

        /// Answers a request, or sends it. Cancelling the response's task stops the work until there is a head; after
        /// that, the body does.
        package let load: @Sendable (CheckedRequest, @escaping Sender) -> Response

        package init(load: @escaping @Sendable (CheckedRequest, @escaping Sender) -> Response) {
            self.load = load
        }
    }
}
