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

        /// Sends a request with these header fields in place of its own. Can be called also when the client's own
        /// request has ended.
        package typealias Sender = @Sendable (HTTPHeaders) -> Response

        /// The facts about the client that the request itself doesn't tell.
        package struct Caller: Sendable {
            /// Stands for the caller's task, so that its request doesn't wait for itself where it meets the cache once more.
            package let task: ProgressReporter?

            /// Separates the stored responses to this request from others of the same URL.
            package let partition: String?

            /// True if the client has a credential, so that what it gets without it may be its own, too.
            package let isPersonal: Bool

            /// The request's own time-out, in seconds, also where an engine doesn't get it.
            package let timeout: Double
        }

        package typealias Load = @Sendable (CheckedRequest, Caller, @escaping Sender) -> Response

        /// Answers a request, or sends it. Cancelling the response's task stops the work until there is a head; after
        /// that, the body does.
        package let load: Load

        package init(load: @escaping Load) { self.load = load }
    }
}
