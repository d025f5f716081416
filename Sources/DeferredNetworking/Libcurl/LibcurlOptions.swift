#if os(Linux)
import CLibcurl
import Foundation
import FoundationNetworking

/// The settings that all requests of an engine share.
///
/// SAFETY: a cookie storage is thread-safe, but not marked so; all other properties are constants.
struct LibcurlOptions: @unchecked Sendable {
    let maximumConnectionsPerHost: Int
    let cookies: HTTPCookieStorage?
    let userAgent: String

    let tls: URLClient.TLS
    let proxy: URLClient.Proxy
    let unixSocketPath: String?
    let httpVersion: URLClient.HTTPVersion?

    /// - Throws: ``URLClientError/engineUnavailable(reason:)`` for a setting that this version of libcurl doesn't
    ///   support.
    init(_ configuration: URLClient.Configuration) throws(URLClientError) {
        try Self.check(configuration.tls)
        maximumConnectionsPerHost = max(1, configuration.maximumConnectionsPerHost)
        cookies = configuration.cookies
        tls = configuration.tls
        proxy = configuration.proxy
        unixSocketPath = configuration.unixSocketPath
        httpVersion = configuration.httpVersion
        let process = ProcessInfo.processInfo.processName.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        userAgent = "\(process.isEmpty ? "Deferred" : process) curl/\(String(cString: libcurl_version()))"
    }

    /// Refuses authorities in memory if libcurl is too old: it would ignore them, and trust the system's.
    private static func check(_ tls: URLClient.TLS) throws(URLClientError) {
        guard case .data = tls.authorities, libcurl_option("CAINFO_BLOB") != CURLOPT_CAINFO_BLOB else { return }
        throw .engineUnavailable(
            reason:
                "authorities in memory need libcurl 7.77, but this is \(String(cString: libcurl_version())); use a file"
        )
    }
}
#endif
