import Foundation

/// The scheme, host and effective port of a URL: what RFC 6454 calls its origin.
struct Origin: Equatable {
    private let scheme: String?
    private let host: String?
    private let port: Int?

    init(of url: URL) {
        scheme = url.scheme?.lowercased()
        host = url.host(percentEncoded: true)?.lowercased()
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}
