import Foundation

// MARK: The URL

extension CheckedRequest {
    /// Returns `url` as an absolute URL with a lower-case scheme, if a request can be sent to it.
    static func checkedURL(_ url: URL?) throws(URLClientError) -> URL {
        guard let url = url?.absoluteURL else { throw missingURL }
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
        try RequestGrammar.check(port: url.port, of: DisplayText.quoted(url))
        guard !DisplayText.hasControls(url.absoluteString) else {
            throw .invalidRequest(
                reason: "the URL \(DisplayText.quoted(url)) contains control characters; percent-encode them"
            )
        }
        let lowercased = scheme.lowercased()
        guard scheme != lowercased else { return url }
        return URL(string: lowercased + url.absoluteString.dropFirst(scheme.count)) ?? url
    }

    static let missingURL = URLClientError.invalidRequest(
        reason: "it has no URL; set one such as \"https://host/path\""
    )

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
