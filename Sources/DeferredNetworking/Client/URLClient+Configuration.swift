#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLClient {
    /// What a client does by itself, and its limits.
    ///
    /// ```swift
    /// var configuration = URLClient.Configuration()
    /// configuration.maximumRequestsInFlight = 64
    /// configuration.redirects = .sameOrigin()
    /// configuration.retries.attempts = 5
    /// let client = URLClient(configuration: configuration)
    /// ```
    public struct Configuration: Sendable {
        /// What sends the requests.
        public enum Engine: Sendable, Hashable {
            /// A `URLSession` of the client's own: everywhere.
            case urlSession

            /// libcurl itself, on a thread of the client's own: on Linux.
            ///
            /// Many times as fast as `URLSession` is there, and safe from servers that end a process that uses one. It
            /// is the `libcurl.so.4` that `URLSession` is built on, so there is nothing to install; where it is missing
            /// or older than 7.68, each request fails with ``URLClientError/engineUnavailable(reason:)``. Of ``session``,
            /// only the additional headers and the time-out for resources count.
            case libcurl
        }

        /// What sends the requests.
        public var engine = Engine.urlSession

        /// The session's configuration, for additional headers, protocol classes and the like. Copied by the client.
        ///
        /// The client sets its connections per host and its cookies from the properties here. On Linux it also removes the
        /// cache and the credential storage, with which cancelling stops the process.
        public var session = URLSessionConfiguration.ephemeral

        /// Whom the client trusts, and who it is itself. Only for ``Engine/libcurl``.
        public var tls = TLS()

        /// What requests go through on their way. ``Engine/urlSession`` knows only the environment's.
        public var proxy = Proxy.environment

        /// A socket in the file system that all requests go to, whatever hosts they name. Only for ``Engine/libcurl``.
        public var unixSocketPath: String?

        /// The only version of HTTP that is spoken; `nil` for HTTP/2 over TLS where the server knows it, else HTTP/1.1.
        ///
        /// Only for ``Engine/libcurl``.
        public var httpVersion: HTTPVersion?

        /// How many connections to one host there may be; at least 1. Over HTTP/2, requests share one.
        public var maximumConnectionsPerHost = 16

        /// How many requests may be under way at a time; `nil` for any number.
        ///
        /// The others wait, in the order in which they were begun for each host, and the hosts take turns. A request that
        /// waits for its next attempt keeps its place, unless ``RetryPolicy/yieldsPlace``.
        public var maximumRequestsInFlight: Int?

        /// The largest body that is gathered in memory, in bytes; `nil` for any. Downloads and streams have no limit.
        ///
        /// A larger one fails with ``URLClientError/bodyTooLarge(limit:)``. Bytes count after decompression.
        public var maximumBodySize: Int64? = 64 << 20

        /// How much of a stream's body waits in memory for its reader, in bytes. What goes beyond waits in a file, where
        /// the sender isn't held up: see ``streamBufferLimit``.
        public var streamBufferSize = 1 << 20

        /// How much of a stream's body may wait for its reader, in bytes, before its sender is held up; `nil` for
        /// ``streamBufferSize`` over ``Engine/libcurl``.
        ///
        /// What a connection has brought when the limit is near still comes: up to 1 MiB. Only for ``Engine/libcurl``.
        public var streamBufferLimit: Int?

        /// How long a request may take.
        public var deadlines = Deadlines()

        /// Which redirects are followed.
        public var redirects = RedirectPolicy.follow()

        /// Who the client says that it is.
        public var authentication = Authentication.none

        /// Which statuses are successes.
        public var validation = StatusValidation.successful

        /// Which failures are tried again.
        public var retries = RetryPolicy()

        /// Where cookies are kept and taken from; `nil` neither sends nor accepts any.
        public var cookies: HTTPCookieStorage?

        /// Told what happens to each request; see ``URLClient/Event``.
        ///
        /// Called on internal threads and on those that begin or cancel, and keeps them waiting: it must not block. The
        /// events of one request come in order, except that a cancellation doesn't wait for what is being told.
        public var monitor: (@Sendable (Event) -> Void)?

        /// Creates a configuration with the defaults.
        public init() {}

        /// The defaults: redirects followed, idempotent requests tried three times, no cookies, no credentials.
        public static var `default`: Configuration { Configuration() }
    }
}

extension URLClient.Configuration {
    /// The total deadline, or else the session's own time-out for resources.
    var totalDeadline: Duration? { deadlines.total ?? ResourceTimeout.chosen(in: session) }

    /// A configuration for the session with what is said here and not there.
    func makeSessionConfiguration() -> URLSessionConfiguration {
        let copy = session.copy() as? URLSessionConfiguration ?? .ephemeral
        copy.httpMaximumConnectionsPerHost = max(1, maximumConnectionsPerHost)
        copy.httpCookieStorage = cookies
        copy.httpShouldSetCookies = cookies != nil
        copy.httpCookieAcceptPolicy = cookies == nil ? .never : .always
        return copy
    }
}
