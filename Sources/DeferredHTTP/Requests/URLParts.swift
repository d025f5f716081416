import DeferredNetworking
import Foundation

/// The parts of a request's URL, each percent-encoded as it was given, so that nothing gets lost.
struct URLParts: Sendable, Hashable {
    var scheme: String?
    var user: String?
    var password: String?
    var host: String? {
        didSet { isHostOfEnvironment = false }
    }
    var port: Int?
    var path = ""
    var query: String?
    var fragment: String?

    /// True if the host was filled in by ``ApplyEnvironment``.
    private(set) var isHostOfEnvironment = false

    init() {}

    mutating func setHostOfEnvironment(_ host: String) {
        self.host = host
        isHostOfEnvironment = true
    }

    init(_ url: URL) {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            // The missing host is reported when the request is loaded.
            path = PercentEncoding.encode(url.absoluteString, allowing: PercentEncoding.path)
            return
        }
        scheme = components.scheme
        user = components.percentEncodedUser
        password = components.percentEncodedPassword
        host = components.encodedHost
        port = components.port
        path = components.percentEncodedPath
        query = components.percentEncodedQuery
        fragment = components.percentEncodedFragment
    }

    /// Returns the URL, with `https` as the default scheme.
    func makeURL() throws(URLClientError) -> URL {
        let authority = try checkedHost()
        let scheme = scheme ?? "https"
        try RequestGrammar.check(scheme: scheme)
        try RequestGrammar.check(port: port)
        var text = scheme
        text.reserveCapacity(
            scheme.utf8.count + authority.utf8.count + path.utf8.count + (query?.utf8.count ?? 0) + 16
        )
        text += "://"
        if user != nil || password != nil {
            text += user ?? ""
            if let password { text += ":" + password }
            text += "@"
        }
        text += authority
        if let port { text += ":" + String(port) }
        if !path.isEmpty, path.utf8.first != UInt8(ascii: "/") { text += "/" }
        text += path
        if let query {
            text += "?"
            text += query
        }
        if let fragment {
            text += "#"
            text += fragment
        }
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw .invalidRequest(reason: "\(DisplayText.quoted(redacted)) is not a URL")
        }
        return url
    }

    /// The URL for display, without user, password, and anything else that looks like a secret.
    var redacted: String {
        let origin = host.map { host in
            (scheme ?? "https") + "://" + (user == nil && password == nil ? "" : Redaction.mark + "@")
                + Redaction.host(host) + (port.map { ":\($0)" } ?? "")
        }
        return (origin ?? "") + (host == nil ? path : absolutePath)
            + (query.map { "?" + Redaction.query($0) } ?? "") + (fragment.map { "#" + Redaction.query($0) } ?? "")
    }

    private var absolutePath: String {
        path.isEmpty || path.hasPrefix("/") ? path : "/" + path
    }

    /// The bytes of a plain host name: letters, digits and unreserved punctuation.
    private static let plainHost = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    private static let delimiters = ByteSet("/?#@\\")

    private func checkedHost() throws(URLClientError) -> String {
        guard let host, !host.isEmpty else {
            throw .invalidRequest(
                reason:
                    "\(DisplayText.quoted(redacted)) has no host; set one, or load it with a chain that has ApplyEnvironment"
            )
        }
        if Self.plainHost.containsAll(of: host) { return host }
        guard !host.utf8.contains(where: { $0 <= 0x20 || Self.delimiters.contains($0) }) else {
            throw .invalidRequest(
                reason:
                    "the host \(DisplayText.quoted(withoutUser: host)) contains more than a host name; set the scheme, port and path separately"
            )
        }
        if host.contains(":") {
            let address = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
            guard address.count(where: { $0 == ":" }) > 1, address.allSatisfy({ $0.isHexDigit || ":.%".contains($0) })
            else {
                throw .invalidRequest(
                    reason:
                        "the host \(DisplayText.quoted(host)) is neither a name nor an IP address; set a port with `port`"
                )
            }
            return "[\(address)]"
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            var components = URLComponents()
            components.host = host
            return components.encodedHost ?? host
        }
        return host
    }
}
