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
            /// The best one for the platform and the configuration: `URLSession` on Apple's platforms, and libcurl on
            /// Linux.
            ///
            /// On Linux, it is `URLSession` if ``session`` has protocol classes of its own, or if libcurl is missing or
            /// older than 7.68. ``URLClient/engine`` says which it is.
            case automatic

            /// A `URLSession` owned by the client; available on all platforms.
            case urlSession

            /// libcurl itself, on threads of the library; available on Linux.
            ///
            /// Many times as fast as `URLSession` on Linux, and safe from servers that can crash a process that uses
            /// one. It is the `libcurl.so.4` that `URLSession` is built on, so there is nothing to install; where it is
            /// missing or older than 7.68, each request fails with ``URLClientError/Code/engineUnavailable(reason:)``, and
            /// so it does if ``session`` has protocol classes of its own.
            ///
            /// Hosts may be IPv6 addresses, such as `[::1]` or `[fe80::1%25eth0]`, which `URLSession` on Linux can't
            /// connect to.
            case libcurl
        }

        /// The implementation that sends the requests.
        public var engine = Engine.automatic

        /// Header fields for every request that lacks them; they replace those of ``session``. None by default.
        ///
        /// A name or a value that can't be sent fails each request with ``URLClientError/Code/invalidRequest(reason:)``.
        public var headers: [String: String] {
            get { Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) }) }
            set { fields = HTTPHeaders(sorting: newValue) }
        }
        /// Printed without credentials.
        private var fields = HTTPHeaders()

        /// The `User-Agent` of requests that have none of their own; `nil` for the engine's, which names the process and
        /// libcurl or Foundation.
        public var userAgent: String?

        /// The session's configuration, for protocol classes and the like. Copied by the client.
        ///
        /// The client sets the connections per host and the cookie storage from the properties here. On Linux, only the
        /// additional headers, the protocol classes and the time-out for resources have an effect: there is no `URLCache`,
        /// with which cancelling a task crashes the process, and no credential storage, with which a `401` can hang.
        public var session = URLSessionConfiguration.ephemeral

        /// The trusted certificate authorities and the client's own certificate. Not available with `URLSession` on
        /// Linux.
        public var tls = TLS()

        /// The trusted certificate authorities, and the client's own certificate, for connections to a proxy whose URL has
        /// the scheme `https`. What ``tls`` says is for servers alone. Only for libcurl.
        public var proxyTLS = TLS()

        /// The proxy for all requests. `URLSession` supports only ``URLClient/Proxy/environment``.
        public var proxy = Proxy.environment

        /// The path of a Unix domain socket for all requests, whatever their hosts. Only for libcurl. Each request makes a
        /// connection of its own.
        public var unixSocketPath: String?

        /// The only HTTP version to use; `nil` for HTTP/2 over TLS where the server supports it, and otherwise
        /// HTTP/1.1.
        ///
        /// With `nil`, streams and downloads use HTTP/1.1: each has a connection of its own, so that a slow reader holds
        /// up no other request. So do requests with a body over libcurl 7.88 and 8.0, which over HTTP/2 lose responses that
        /// come before the body has ended. Where HTTP/2 is required, they keep the status of such a response if it is an
        /// error, and fail the request otherwise; and without TLS, they use a connection for each request.
        ///
        /// Only for libcurl.
        public var httpVersion: HTTPVersion?

        /// The maximum number of connections per host; at least 1. Over HTTP/2, requests share a connection.
        public var maximumConnectionsPerHost = 16

        /// The time after which an idle connection isn't used again; `nil` for no limit. Counted in whole seconds, at least
        /// one.
        ///
        /// Load balancers and NATs forget connections, mostly after a minute to five of them, and then packets vanish. So the
        /// default is less, and idle connections are also probed (TCP keep-alive) every 30 seconds.
        ///
        /// Only for libcurl.
        public var connectionIdleTimeout: Duration? = .seconds(50)

        /// The time after which a connection isn't used again, however busy it was; `nil` for no limit. Counted in whole
        /// seconds, at least one.
        ///
        /// New connections find servers that were added, or moved to another address. A connection of HTTP/2 stays in use for
        /// as long as it has requests all the time.
        ///
        /// Only for libcurl. Before 7.80, that has no limit, and another value than the default and `nil` is refused.
        public var connectionLifetime: Duration? = .seconds(600)

        /// The addresses to use for hosts and ports instead of looking up the names.
        ///
        /// ```swift
        /// configuration.resolve["api.example.com:443"] = ["192.0.2.7", "2001:db8::7"]
        /// ```
        ///
        /// The host stays the name for TLS and the `Host` field. If there are several addresses, they are tried one after
        /// the other. A proxy's name counts, too; a server behind a proxy is mostly looked up there.
        ///
        /// Only for libcurl.
        public var resolve: [String: [String]] = [:]

        /// The maximum number of threads that drive libcurl, from 1 to 8. By default, as many as the machine has
        /// processors, and at most 4.
        ///
        /// A request runs on the thread that has the fewest to its host, and is reported on that thread. So one request
        /// after another takes one thread and one connection, and each thread starts when there is a request for it.
        ///
        /// Only for libcurl.
        public var maximumThreads = min(4, ProcessInfo.processInfo.activeProcessorCount)

        /// The maximum number of requests in flight; `nil` for no limit.
        ///
        /// Further requests wait in order for each origin, and the origins take turns. One that doesn't answer keeps its places until
        /// deadlines end its requests; without this limit, it takes nothing from the others. A request that waits for its next
        /// attempt still counts as in flight, unless ``Retries/yieldsPlace`` is set.
        public var maximumRequestsInFlight: Int?

        /// The largest body that is gathered in memory, in bytes; `nil` for no limit. Downloads and streams have no
        /// limit.
        ///
        /// A larger body fails the request with ``URLClientError/Code/bodyTooLarge(limit:)``. Bytes count after
        /// decompression.
        public var maximumBodySize: Int64? = 64 << 20

        /// The number of bytes of a stream's body that wait in memory for the reader. Further bytes wait in a file, as
        /// far as ``streamBufferLimit`` allows them.
        public var streamBufferSize = 1 << 20

        /// The number of bytes of a stream's body that may wait for the reader before the client stops reading from the
        /// server (back pressure); `nil` for ``streamBufferSize`` over libcurl, and for no limit over `URLSession`.
        ///
        /// Bytes that have already arrived when the limit is reached are still accepted: up to 1 MiB, and up to 32 MiB
        /// where ``httpVersion`` requires HTTP/2. Only for libcurl.
        public var streamBufferLimit: Int?

        /// The cache that answers requests without the server where it may: a `Cache` of DeferredCache.
        package var responseCache: (any URLClient.ResponseCache)?

        /// The time limits of requests.
        public var deadlines = Deadlines()

        /// The clock of ``deadlines``; a manual one in tests.
        package var deadlineClock: any Clock<Duration> = ContinuousClock()

        /// The redirects to follow.
        public var redirects = RedirectPolicy.follow()

        /// The credentials that are sent, and the point at which they are sent.
        public var authentication = Authentication.none

        /// The statuses that count as success.
        public var validation = StatusValidation.successful

        /// The failures to retry, and the pauses between attempts.
        public var retries = Retries()

        /// The cookie storage; `nil` neither sends nor accepts cookies.
        ///
        /// Cookies are stored and sent by RFC 6265, on Linux by the library itself. A request's own `Cookie` field
        /// replaces those that are stored, and `httpShouldHandleCookies` of a request turns them off for it.
        public var cookies: HTTPCookieStorage?

        /// A closure that receives the events of each request; see ``URLClient/Event``.
        ///
        /// It is called synchronously, on internal threads and on those that begin or cancel requests, and must not
        /// block: over ``Engine/libcurl``, other requests of the client would stall meanwhile. The events of one request
        /// come in order, except that a cancellation doesn't wait for an event that is being reported.
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

    /// The header fields of every request that doesn't have them: the session's, replaced by ``headers`` and
    /// ``userAgent``. No two names differ only in case.
    var defaultHeaders: [String: String] {
        var fields: [String: (name: String, value: String)] = [:]
        let own = headers.sorted { $0.key < $1.key } + (userAgent.map { [(key: "User-Agent", value: $0)] } ?? [])
        for (name, value) in SafeConfiguration.headers(of: session).sorted(by: { $0.key < $1.key }) + own {
            fields[name.lowercased()] = (name, value)
        }
        return Dictionary(uniqueKeysWithValues: fields.values.map { ($0.name, $0.value) })
    }

    /// Returns the session's configuration with the settings that this configuration overrides.
    func makeSessionConfiguration() -> URLSessionConfiguration {
        let copy = session.copy() as? URLSessionConfiguration ?? .ephemeral
        copy.httpAdditionalHeaders = defaultHeaders
        copy.httpMaximumConnectionsPerHost = max(1, maximumConnectionsPerHost)
        if responseCache != nil { copy.urlCache = nil }
        copy.httpCookieStorage = cookies
        copy.httpShouldSetCookies = cookies != nil
        copy.httpCookieAcceptPolicy = cookies == nil ? .never : .always
        return copy
    }
}
