package import Foundation

extension CheckedRequest {
    /// Returns `url` as an absolute URL with a lower-case scheme, if a request can be sent to it.
    package static func checkedURL(_ url: URL?) throws(URLClientError) -> URL {
        guard let url = url?.absoluteURL else {
            throw .invalidRequest(reason: "it has no URL; set one such as \"https://host/path\"")
        }
        guard let scheme = url.scheme else {
            throw .invalidRequest(
                reason: "the URL \(DisplayText.quoted(url)) is relative; "
                    + "resolve it against a base such as \"https://host/\""
            )
        }
        try RequestGrammar.check(scheme: scheme, of: DisplayText.quoted(url))
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw .invalidRequest(reason: "the URL \(DisplayText.quoted(url)) has no host; write \"https://host/path\"")
        }
        let port = url.port
        try RequestGrammar.check(port: port, of: DisplayText.quoted(url))
        // One that no integer can hold is none for Foundation, which has to parse the URL again to tell.
        let mayHavePort = url.absoluteString.withBytes { $0.count { $0 == UInt8(ascii: ":") } } > 1
        if port == nil, mayHavePort, URLComponents(string: url.absoluteString)?.rangeOfPort != nil {
            throw refusal(of: url)
        }
        guard !DisplayText.hasControls(url.absoluteString) else {
            throw .invalidRequest(
                reason: "the URL \(DisplayText.quoted(url)) contains control characters; percent-encode them"
            )
        }
        return withLowercaseScheme(url)
    }

    /// Returns a URL of HTTP with its scheme in lower case.
    package static func withLowercaseScheme(_ url: URL) -> URL {
        let (text, a) = (url.absoluteString, UInt8(ascii: "a"))
        if text.withBytes({ $0.prefix { $0 != UInt8(ascii: ":") }.allSatisfy { $0 >= a } }) { return url }
        let scheme = text.prefix { $0 != ":" }
        return URL(string: scheme.lowercased() + text.dropFirst(scheme.count)) ?? url
    }

    /// Returns the error for a URL that looked right, but that the engine can't read. Engines differ in the hosts that
    /// they accept.
    static func refusal(of url: URL) -> URLClientError {
        let text = DisplayText.quoted(url)
        let port = URLComponents(url: url, resolvingAgainstBaseURL: true)?.rangeOfPort
        guard port == nil || url.port != nil else {
            return .invalidRequest(reason: "the port of \(text) is out of range; use 1 to 65535")
        }
        return .invalidRequest(
            reason: "the host of \(text) is neither a name nor an address that can be connected to; use a name of "
                + "letters, digits, hyphens and dots, or an address such as 127.0.0.1"
        )
    }
}
