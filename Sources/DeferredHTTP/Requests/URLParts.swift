import DeferredNetworking
import Foundation

/// The parts of a request's URL, each percent-encoded and as it came, so that none of it gets lost.
struct URLParts: Sendable, Hashable {
    var scheme: String?
    var user: String?
    var password: String?
    var host: String?
    var port: Int?
    var path = ""
    var query: String?
    var fragment: String?

    init() {}

    init(_ url: URL) {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            // Without a host, which is reported when the request is loaded.
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

    /// The URL, with `https` where there is no scheme.
    func makeURL() throws(URLClientError) -> URL {
        let authority = try checkedHost()
        let scheme = scheme ?? "https"
        try RequestGrammar.check(scheme: scheme)
        try RequestGrammar.check(port: port)
        var text = scheme + "://"
        if user != nil || password != nil {
            text += (user ?? "") + (password.map { ":" + $0 } ?? "") + "@"
        }
        text += authority + (port.map { ":\($0)" } ?? "") + absolutePath
        text += (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw .invalidRequest(reason: "\(DisplayText.quoted(redacted)) is not a URL")
        }
        return url
    }

    /// The URL for people to read: without user, password, and what else looks like a secret.
    var redacted: String {
        let origin = host.map { host in
            (scheme ?? "https") + "://" + (user == nil && password == nil ? "" : Redaction.mark + "@") + host
                + (port.map { ":\($0)" } ?? "")
        }
        return (origin ?? "") + (host == nil ? path : absolutePath)
            + (query.map { "?" + Redaction.query($0) } ?? "") + (fragment.map { "#" + Redaction.query($0) } ?? "")
    }

    private var absolutePath: String {
        path.isEmpty || path.hasPrefix("/") ? path : "/" + path
    }

    private func checkedHost() throws(URLClientError) -> String {
        guard let host, !host.isEmpty else {
            throw .invalidRequest(
                reason:
                    "\(DisplayText.quoted(redacted)) has no host; set one, or load it with a chain that has ApplyEnvironment"
            )
        }
        guard !host.unicodeScalars.contains(where: { "/?#@\\ ".unicodeScalars.contains($0) || $0.value < 0x20 }) else {
            throw .invalidRequest(
                reason:
                    "the host \(DisplayText.quoted(withoutUser: host)) contains more than a name; use the other parts for the rest"
            )
        }
        if host.contains(":") {
            let address = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
            guard address.count(where: { $0 == ":" }) > 1, address.allSatisfy({ $0.isHexDigit || ":.%".contains($0) })
            else {
                throw .invalidRequest(
                    reason:
                        "the host \(DisplayText.quoted(host)) is neither a name nor an address; put the port into `port`"
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
