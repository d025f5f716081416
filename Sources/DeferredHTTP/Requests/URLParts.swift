import DeferredNetworking
package import Foundation

/// The parts of a request's URL, each percent-encoded as it was given, so that nothing gets lost.
package struct URLParts: Sendable, Hashable {
    package var scheme: String? {
        didSet { isHostOfEnvironment = false }
    }
    package var host: String? {
        didSet { isHostOfEnvironment = false }
    }
    package var port: Int? {
        didSet { isHostOfEnvironment = false }
    }
    /// With its dot segments, which are the names of other objects for some servers.
    package var path = ""
    package var query: String?

    package var user: String?
    package var password: String?
    var fragment: String?

    /// A segment that was appended to the path, and that would leave its folder.
    var refusedSegment: String?

    /// True if the host was filled in by ``ApplyEnvironment``, and is still at that scheme and port.
    private(set) var isHostOfEnvironment = false

    /// - Parameter path: Percent-encoded.
    init(scheme: String?, host: String?, port: Int?, path: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
    }

    /// nil without a host.
    var origin: Origin? { host.map { Origin(scheme: scheme, host: $0, port: port) } }

    mutating func setHostOfEnvironment(_ host: String) {
        self.host = host
        isHostOfEnvironment = true
    }

    package init(_ url: URL) {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            // The missing host is reported when the request is loaded.
            path = PercentEncoding.encode(url.absoluteString, allowing: PercentEncoding.path)
            return
        }
        scheme = components.scheme
        user = components.percentEncodedUser
        password = components.percentEncodedPassword
        host = components.encodedHost
        // A port that no integer can hold is out of range as well, and must not give way to the scheme's port.
        port = components.port ?? components.rangeOfPort.map { _ in .max }
        path = components.percentEncodedPath
        query = components.percentEncodedQuery
        fragment = components.percentEncodedFragment
    }

    /// Returns the URL, with `https` as the default scheme.
    func makeURL() throws(URLClientError) -> URL {
        if let refusedSegment {
            throw .invalidRequest(
                reason:
                    "the segment \(DisplayText.quoted(refusedSegment)) was appended to the path, and names a folder to "
                    + "most servers; check names that come from outside, or set `path` if it is the name of an object"
            )
        }
        let authority = try checkedHost()
        let scheme = scheme ?? "https"
        try RequestGrammar.check(scheme: scheme)
        try RequestGrammar.check(port: port)
        let text = text(scheme, authority)
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw .invalidRequest(reason: "\(DisplayText.quoted(redacted)) is not a URL")
        }
        return url
    }

    /// Returns the URL's text.
    private func text(_ scheme: String, _ authority: String) -> String {
        var text = scheme + "://"
        if user != nil || password != nil { text += (user ?? "") + (password.map { ":" + $0 } ?? "") + "@" }
        text += authority
        if let port { text += ":" + String(port) }
        text += absolutePath
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// The URL for display, without user, password, and anything else that looks like a secret.
    var redacted: String {
        let origin = host.map { host in
            (scheme ?? "https") + "://" + (user == nil ? "" : Redaction.mark + "@")
                + Redaction.host(host) + (port.map { ":\($0)" } ?? "")
        }
        return (origin ?? "") + (host == nil ? path : absolutePath)
            + (query.map { "?" + Redaction.query($0) } ?? "") + (fragment.map { "#" + Redaction.query($0) } ?? "")
    }

    private var absolutePath: String {
        path.isEmpty || path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
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
            let number = address.prefix { $0 != "%" }
            guard number.count(where: { $0 == ":" }) > 1, number.allSatisfy({ $0.isHexDigit || ":.".contains($0) })
            else {
                throw .invalidRequest(
                    reason:
                        "the host \(DisplayText.quoted(host)) is neither a name nor an IP address; set a port with `port`"
                )
            }
            return try "[\(number)\(Self.encodedZone(address.dropFirst(number.count), of: host))]"
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            var components = URLComponents()
            components.host = host
            return components.encodedHost ?? host
        }
        return host
    }

    /// Returns the zone of an IPv6 address as in RFC 6874, such as `%25eth0`. It may be given like that, or as `%eth0`.
    private static func encodedZone(_ text: Substring, of host: String) throws(URLClientError) -> String {
        if text.isEmpty { return "" }
        let isEncoded = text.hasPrefix("%25") && text != "%25"
        let zone = String(text.dropFirst(isEncoded ? 3 : 1))
        guard !zone.isEmpty, plainHost.containsAll(of: zone) else {
            throw .invalidRequest(
                reason:
                    "the zone \(DisplayText.quoted(zone)) of the host \(DisplayText.quoted(host)) is not the name of "
                    + "a network interface; use the name or the number of one, as in \"fe80::1%25eth0\""
            )
        }
        return "%25" + zone
    }
}
