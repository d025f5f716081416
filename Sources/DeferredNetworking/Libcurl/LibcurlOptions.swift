#if os(Linux)
import CLibcurl
import Foundation
import FoundationNetworking

/// The settings that all requests of an engine share.
final class LibcurlOptions: Sendable {
    let maximumConnectionsPerHost: Int
    let userAgent: String

    let tls: URLClient.TLS

    /// The file of the system's authorities; nil for libcurl's own.
    let systemAuthorities: String?
    let proxy: URLClient.Proxy
    let unixSocketPath: String?
    let httpVersion: URLClient.HTTPVersion?

    /// - Throws: ``URLClientError/engineUnavailable(reason:)`` for a setting that this version of libcurl doesn't
    ///   support.
    init(_ configuration: URLClient.Configuration) throws(URLClientError) {
        try Self.check(configuration.tls)
        maximumConnectionsPerHost = max(1, configuration.maximumConnectionsPerHost)
        tls = configuration.tls
        systemAuthorities = Self.environmentAuthorities
        proxy = configuration.proxy
        unixSocketPath = configuration.unixSocketPath
        httpVersion = configuration.httpVersion
        let process = ProcessInfo.processInfo.processName.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        userAgent = "\(process.isEmpty ? "Deferred" : process) curl/\(String(cString: libcurl_version()))"
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
    func version(of request: CheckedRequest, wantsOwnConnection: Bool) -> Int {
        let isSecure = request.url.scheme == "https"
        return switch httpVersion {
        case .http1_1: CURL_HTTP_VERSION_1_1
        case .http2: isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        // Without TLS, a server that claims to speak HTTP/2 would make libcurl share its connections among requests.
        case nil: isSecure && !wantsOwnConnection ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        }
    }

    /// Refuses authorities in memory if libcurl is too old: it would ignore them, and trust the system's.
    private static func check(_ tls: URLClient.TLS) throws(URLClientError) {
        guard case .data = tls.authorities, LibcurlEngine.versionNumber < 0x07_4D_00 else { return }
        throw .engineUnavailable(
            reason:
                "authorities in memory need libcurl 7.77, but this is \(String(cString: libcurl_version())); use a file"
        )
    }
}
#endif
