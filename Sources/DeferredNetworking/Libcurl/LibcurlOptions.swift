#if os(Linux)
import CLibcurl
import Foundation
import FoundationNetworking

/// The settings that all requests of an engine share.
final class LibcurlOptions: Sendable {
    /// False for libcurl 7.88 and 8.0, which lay HTTP/2 over HTTP/2 where a second request uses a connection by prior
    /// knowledge: that and all later ones would fail.
    static let canReuseByPriorKnowledge = !isBetween7_88And8_1

    /// True for libcurl 7.88 and 8.0, which lose a response over HTTP/2 if they read it together with the reset of its
    /// stream. A server that needs no more of a request's body sends that: RFC 9113, section 8.1.
    static let losesEarlyResponses = isBetween7_88And8_1

    private static let isBetween7_88And8_1 = (0x07_58_00..<0x08_01_00).contains(LibcurlEngine.versionNumber)

    let maximumConnectionsPerHost: Int
    let userAgent: String

    /// False if no request goes through a proxy.
    let mayHaveProxy: Bool

    private let tls: URLClient.TLS
    private let proxyTLS: URLClient.TLS

    /// The file of the system's authorities; nil for libcurl's own.
    private let systemAuthorities: String?
    let proxy: URLClient.Proxy
    let unixSocketPath: String?
    let httpVersion: URLClient.HTTPVersion?

    /// In seconds, as libcurl counts; ``Int32/max`` for no limit.
    let connectionIdleTimeout: Int
    let connectionLifetime: Int

    /// The addresses that take the place of a look-up, by names with their ports.
    let resolve: [String: [String]]
    private let route: LibcurlRoute
    let lookUps: NameLookUps

    /// - Throws: ``URLClientError/Code/engineUnavailable(reason:)`` for a setting that this version of libcurl doesn't
    ///   support, and for a proxy that isn't one.
    init(_ configuration: URLClient.Configuration, lookUps: NameLookUps = .shared) throws(URLClientError) {
        route = LibcurlRoute(configuration.proxy)
        try Self.check(configuration.proxy)
        for proxy in route.proxies { try Self.check(proxy) }
        try Self.check(lifetime: configuration.connectionLifetime)
        resolve = try StaticAddresses.checked(configuration.resolve)
        connectionIdleTimeout = Self.seconds(configuration.connectionIdleTimeout)
        connectionLifetime = Self.seconds(configuration.connectionLifetime)
        mayHaveProxy = !route.proxies.isEmpty
        self.lookUps = lookUps
        maximumConnectionsPerHost = max(1, configuration.maximumConnectionsPerHost)
        tls = configuration.tls
        proxyTLS = configuration.proxyTLS
        systemAuthorities = Self.environmentAuthorities
        proxy = configuration.proxy
        unixSocketPath = configuration.unixSocketPath
        httpVersion = configuration.httpVersion
        let process = ProcessInfo.processInfo.processName.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        userAgent = "\(process.isEmpty ? "Deferred" : process) curl/\(LibcurlEngine.version)"
        guard let easy = libcurl_easy_create() else { return }
        defer { libcurl_easy_destroy(easy) }
        try setTLS(on: easy)
    }

    /// Sets the options of a handle for TLS.
    func setTLS(on easy: libcurl_easy) throws(URLClientError) {
        try LibcurlTLS.servers.set(tls, systemAuthorities: systemAuthorities, on: easy)
        try LibcurlTLS.proxies.set(proxyTLS, systemAuthorities: systemAuthorities, on: easy)
    }

    /// Returns the names that libcurl looks up for a request, in order.
    func hops(to url: URL) -> [LibcurlHop] { unixSocketPath == nil ? route.hops(to: url) : [] }

    /// Returns whether libcurl needs addresses for a name that come from elsewhere.
    func mustLookUp(_ hop: LibcurlHop) -> Bool { hop.isLookedUp || resolve[hop.key] != nil }

    /// Rounds down, so that no connection is used for longer; 0 would be none, or no limit.
    private static func seconds(_ limit: Duration?) -> Int {
        guard let limit, limit < .seconds(Int(Int32.max)) else { return Int(Int32.max) }
        return max(1, Int(limit.components.seconds))
    }

    /// The file of authorities in the environment, which stands for the system's: OpenSSL's own variable, and that of
    /// Foundation. There is no value that turns the check off.
    private static var environmentAuthorities: String? {
        let environment = ProcessInfo.processInfo.environment
        let files = ["URLSessionCertificateAuthorityInfoFile", "SSL_CERT_FILE"].compactMap { environment[$0] }
        return files.first { !$0.isEmpty && $0 != "INSECURE_SSL_NO_VERIFY" }
    }

    /// Returns libcurl's number for the version of HTTP that a request may use.
    ///
    /// - Parameter wantsOwnConnection: True for a response that its reader may hold. Over HTTP/2, libcurl accepts up to
    ///   32 MiB of it meanwhile, and the other responses on the connection wait.
    func version(of request: CheckedRequest, isSecure: Bool, wantsOwnConnection: Bool) -> Int {
        switch httpVersion {
        case .http1_1: CURL_HTTP_VERSION_1_1
        case .http2: isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        // Without TLS, a server that claims to speak HTTP/2 would make libcurl share its connections among requests.
        case nil:
            isSecure && !wantsOwnConnection && !(request.hasBody && Self.losesEarlyResponses)
                && request.body.trailers == nil ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        }
    }

    /// Returns whether requests may use connections that others have made.
    ///
    /// - Parameter version: libcurl's number for the version of HTTP.
    func mayReuseConnections(in version: Int) -> Bool {
        // Unix domain sockets have no ports by which one that is idle could be told from others.
        if unixSocketPath != nil { return false }
        return version != CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE || Self.canReuseByPriorKnowledge
    }

    /// Refuses a lifetime of the caller's choice if libcurl is too old for one.
    private static func check(lifetime: Duration?) throws(URLClientError) {
        guard LibcurlEngine.versionNumber < 0x07_50_00, let lifetime,
            lifetime != URLClient.Configuration().connectionLifetime
        else { return }
        throw .engineUnavailable(
            reason: "connectionLifetime needs libcurl 7.80, but this is \(String(cString: libcurl_version())); use nil"
        )
    }

    private static let proxySchemes = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

    /// Refuses what libcurl would refuse with each request, or take for another proxy.
    private static func check(_ proxy: URLClient.Proxy) throws(URLClientError) {
        guard case .server(let url) = proxy else { return }
        let flaw: String
        if !proxySchemes.contains(url.scheme?.lowercased() ?? "") {
            flaw = "has none of the schemes \(proxySchemes.joined(separator: ", "))"
        } else if url.host(percentEncoded: true)?.isEmpty ?? true {
            flaw = "names no host"
        } else if let port = url.port, !(1...65_535).contains(port) {
            flaw = "has a port that isn't one from 1 to 65535"
        } else {
            return
        }
        throw refusal(of: Redaction.proxy(url), flaw)
    }

    /// Refuses the text of a proxy, which may be the environment's, that libcurl doesn't use, without a word.
    private static func check(_ proxy: String) throws(URLClientError) {
        // libcurl decodes the user and the password.
        if let at = proxy.lastIndex(of: "@"), proxy[..<at].contains(/%[01][0-9A-Fa-f]/) {
            throw refusal(of: Redaction.proxy(proxy), "has a percent-encoded control character")
        }
        if proxy.utf8.count > longestProxy {
            throw refusal(of: String(Redaction.proxy(proxy).prefix(80)), "is longer than \(longestProxy) bytes")
        }
    }

    private static let longestProxy = 64 << 10

    private static func refusal(of proxy: String, _ flaw: String) -> URLClientError {
        .engineUnavailable(
            reason: "the proxy \(DisplayText.quoted(proxy)) \(flaw); use a URL such as "
                + "http://user:password@host:3128, in whose user and password delimiters are percent-encoded"
        )
    }
}
#endif
