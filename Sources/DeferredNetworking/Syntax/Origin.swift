package import Foundation

/// The origin of a URL: its scheme, host and effective port, as in RFC 6454.
package struct Origin: Equatable {
    private let scheme: String?
    private let host: String?
    private let port: Int?

    package init(of url: URL) {
        scheme = url.scheme?.lowercased()
        host = url.host(percentEncoded: true)?.lowercased()
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}
