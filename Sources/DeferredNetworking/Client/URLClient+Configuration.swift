#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLClient {
    /// The settings of a client: its engine, its limits and its policies.
    ///
    /// ```swift
    /// var configuration = URLClient.Configuration()
    /// configuration.maximumRequestsInFlight = 64
    /// configuration.redirects = .sameOrigin()
    /// configuration.retries.attempts = 5
    /// let client = URLClient(configuration: configuration)
    /// ```
    public struct Configuration: Sendable {
        /// The implementation that sends the requests.
        public enum Engine: Sendable, Hashable {
            /// A `URLSession` owned by the client; available on all platforms.
            case urlSession

            /// libcurl itself, on a thread owned by the client; available on Linux.
            ///
            /// Many times as fast as `URLSession` on Linux, and safe from servers that can crash a process that uses
            /// one. It is the `libcurl.so.4` that `URLSession` is built on, so there is nothing to install; where it is
            /// missing or older than 7.68, each request fails with ``URLClientError/engineUnavailable(reason:)``. Of
            /// ``session``, only the additional headers and the resource time-out are used.
            ///
            /// Hosts may be IPv6 addresses, such as `[::1]` or `[fe80::1%25eth0]`, which `URLSession` on Linux can't
            /// connect to.
            case libcurl
        }

        /// The implementation that sends the requests.
        public var engine = Engine.urlSession

        /// The session's configuration, for additional headers, protocol classes and the like. Copied by the client.
        ///
        /// The client sets the connections per host and the cookie storage from the properties here. On Linux it also
        /// removes the cache, with which cancelling a task crashes the process, and the credential storage, with which
        /// a `401` can hang.
        public var session = URLSessionConfiguration.ephemeral

        /// The trusted certificate authorities and the client's own certificate. Not available with
        /// ``Engine/urlSession`` on Linux.
        public var tls = TLS()

        /// The proxy for all requests. ``Engine/urlSession`` supports only ``URLClient/Proxy/environment``.
        public var proxy = Proxy.environment

        /// The path of a Unix domain socket for all requests, whatever their hosts. Only for ``Engine/libcurl``.
        public var unixSocketPath: String?

        /// The only HTTP version to use; `nil` for HTTP/2 over TLS where the server supports it, and otherwise
        /// HTTP/1.1.
        ///
        /// Only for ``Engine/libcurl``.
        public var httpVersion: HTTPVersion?

        /// The maximum number of connections per host; at least 1. Over HTTP/2, requests share a connection.
        public var maximumConnectionsPerHost = 16

        /// The maximum number of requests in flight; `nil` for no limit.
        ///
        /// Further requests wait in order for each host, and the hosts take turns. A request that waits for its next
        /// attempt still counts as in flight, unless ``Retries/yieldsPlace`` is set.
        public var maximumRequestsInFlight: Int?

        /// The largest body that is gathered in memory, in bytes; `nil` for no limit. Downloads and streams have no
        /// limit.
        ///
        /// A larger body fails the request with ``URLClientError/bodyTooLarge(limit:)``. Bytes count after
        /// decompression.
        public var maximumBodySize: Int64? = 64 << 20

        /// The number of bytes of a stream's body that wait in memory for the reader. Further bytes wait in a file, as
        /// far as ``streamBufferLimit`` allows them.
        public var streamBufferSize = 1 << 20

        /// The number of bytes of a stream's body that may wait for the reader before the client stops reading from the
        /// server (back pressure); `nil` for ``streamBufferSize`` over ``Engine/libcurl``.
        ///
        /// Bytes that have already arrived when the limit is reached are still accepted: up to 1 MiB. Only for
        /// ``Engine/libcurl``.
        public var streamBufferLimit: Int?

        /// The time limits of requests.
        public var deadlines = Deadlines()

        /// The redirects to follow.
        public var redirects = RedirectPolicy.follow()

        /// The credentials that are sent, and the point at which they are sent.
        public var authentication = Authentication.none

        /// The statuses that count as success.
        public var validation = StatusValidation.successful

        /// The failures to retry, and the pauses between attempts.
        public var retries = Retries()

        /// The cookie storage; `nil` neither sends nor accepts cookies.
        public var cookies: HTTPCookieStorage?

        /// A closure that receives the events of each request; see ``URLClient/Event``.
        ///
        /// It is called synchronously, on internal threads and on those that begin or cancel requests, and must not
        /// block. The events of one request come in order, except that a cancellation doesn't wait for an event that is
        /// being reported.
        public var monitor: (@Sendable (Event) -> Void)?

        /// Creates a configuration with the defaults.
        public init() {}

        /// The defaults: redirects followed, idempotent requests tried three times, no cookies, no credentials.
        public static var `default`: Configuration { Configuration() }
    }
}

extension URLClient.Configuration {
    /// The total deadline, or otherwise the session's own resource time-out.
    var totalDeadline: Duration? { deadlines.total ?? ResourceTimeout.chosen(in: session) }

    /// Returns the session's configuration with the settings that this configuration overrides.
    func makeSessionConfiguration() -> URLSessionConfiguration {
        let copy = session.copy() as? URLSessionConfiguration ?? .ephemeral
        copy.httpMaximumConnectionsPerHost = max(1, maximumConnectionsPerHost)
        copy.httpCookieStorage = cookies
        copy.httpShouldSetCookies = cookies != nil
        copy.httpCookieAcceptPolicy = cookies == nil ? .never : .always
        return copy
    }
}
