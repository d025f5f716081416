import Foundation

extension CheckedRequest {
    /// `url` as an absolute URL with a lower-case scheme, if a request can be sent to it.
    static func checkedURL(_ url: URL?) throws(URLClientError) -> URL {
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
        try checkAuthority(of: url)
        guard !url.absoluteString.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .invalidRequest(
                reason: "the URL \(DisplayText.quoted(url)) contains control characters; percent-encode them"
            )
        }
        return lowercasingScheme(scheme, of: url)
    }

    private static func checkAuthority(of url: URL) throws(URLClientError) {
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw .invalidRequest(reason: "the URL \(DisplayText.quoted(url)) has no host; write \"https://host/path\"")
        }
        if host.contains(":"), !IPv6Literals.areSupported {
            throw .invalidRequest(
                reason: "the host \(DisplayText.quoted(host)) is an IPv6 literal, which this version of Foundation "
                    + "cannot connect to; use a host name, or an IPv4 address"
            )
        }
        try RequestGrammar.check(port: url.port, of: DisplayText.quoted(url))
    }

    private static func lowercasingScheme(_ scheme: String, of url: URL) -> URL {
        let lowercased = scheme.lowercased()
        guard scheme != lowercased else { return url }
        return URL(string: lowercased + url.absoluteString.dropFirst(scheme.count)) ?? url
    }
}
