package import Foundation

/// The origin of a URL: its scheme, host and port, as in RFC 6454. Credentials and other secrets belong to one.
package struct Origin: Hashable, Sendable {
    private let scheme: String
    private let host: String
    private let port: Int?

    /// - Parameters:
    ///   - scheme: nil for `https`.
    ///   - host: An IPv6 address may be in brackets.
    ///   - port: nil for the scheme's default.
    package init(scheme: String?, host: String, port: Int?) {
        let host = host.lowercased()
        self.scheme = scheme?.lowercased() ?? "https"
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = port ?? (self.scheme == "https" ? 443 : 80)
    }

    var text: String { "\(scheme)://\(host):\(port ?? 0)" }

    package init(of url: URL) {
        self.init(scheme: url.scheme ?? "", host: url.host(percentEncoded: true) ?? "", port: url.port)
    }

    /// Reads a host, before which there may be a scheme, and after which there may be a port: `example.com`,
    /// `example.com:8443`, `http://[::1]:8080`.
    package init(text: String) throws(URLClientError) {
        let start = text.range(of: "://")
        let authority = text[(start?.upperBound ?? text.startIndex)...]
        let isBareAddress = !authority.hasPrefix("[") && authority.count(where: { $0 == ":" }) > 1
        let colon =
            isBareAddress ? nil : authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : $0 }
        let port = colon.map { Int(authority[authority.index(after: $0)...]) ?? 0 }
        let host = authority[..<(colon ?? authority.endIndex)]
        let scheme = start.map { text[..<$0.lowerBound].lowercased() }
        guard ["http", "https", nil].contains(scheme), !host.isEmpty, host.hasPrefix("[") == host.hasSuffix("]"),
            !host.contains(where: { " \t/?#@\\".contains($0) }),
            (1...65_535).contains(port ?? 1)
        else {
            throw .invalidRequest(
                reason:
                    "the host \(DisplayText.quoted(text)) of a credential is not a host; write \"example.com\", with a "
                    + "port \"example.com:8443\", and without TLS \"http://example.com\""
            )
        }
        self.init(scheme: scheme, host: String(host), port: port)
    }
}
