#if os(Linux)
import CLibcurl
import Foundation
import FoundationNetworking

/// What all requests of an engine have in common.
///
/// SAFETY: a cookie storage is safe to use from several threads, but not marked so; all else is constant.
struct LibcurlOptions: @unchecked Sendable {
    let maximumConnectionsPerHost: Int
    let cookies: HTTPCookieStorage?
    let userAgent: String

    init(_ configuration: URLClient.Configuration) {
        maximumConnectionsPerHost = max(1, configuration.maximumConnectionsPerHost)
        cookies = configuration.cookies
        let process = ProcessInfo.processInfo.processName.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        userAgent = "\(process.isEmpty ? "Deferred" : process) curl/\(String(cString: libcurl_version()))"
    }
}
#endif
