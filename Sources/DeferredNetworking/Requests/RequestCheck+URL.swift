import Foundation

extension RequestCheck {
    /// `url` as an absolute URL with a lower-case scheme, if a request can be sent to it.
    static func checkedURL(_ url: URL?) throws(URLClientError) -> URL {
        guard let url = url?.absoluteURL else {
            throw .invalidRequest(reason: "it has no URL; set one such as \"https://host/path\"")
        }
        guard let scheme = url.scheme else {
            throw .invalidRequest(
                reason: "the URL \(VisibleText.quoted(url)) is relative; "
                    + "resolve it against a base such as \"https://host/\""
            )
        }
        guard ["http", "https"].contains(scheme.lowercased()) else {
            throw .invalidRequest(
                reason: "the scheme \(VisibleText.quoted(scheme)) of \(VisibleText.quoted(url)) is not http or https"
            )
        }
        try checkAuthority(of: url)
        guard !url.absoluteString.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .invalidRequest(
                reason: "the URL \(VisibleText.quoted(url)) contains control characters; percent-encode them"
            )
        }
        return lowercasingScheme(scheme, of: url)
    }

    private static func checkAuthority(of url: URL) throws(URLClientError) {
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw .invalidRequest(reason: "the URL \(VisibleText.quoted(url)) has no host; write \"https://host/path\"")
        }
        if host.contains(":"), !IPv6Literals.areSupported {
            throw .invalidRequest(
                reason: "the host \(VisibleText.quoted(host)) is an IPv6 literal, which this version of Foundation "
                    + "cannot connect to; use a host name, or an IPv4 address"
            )
        }
        if let port = url.port, !(1...65_535).contains(port) {
            throw .invalidRequest(
                reason: "the port \(port) of \(VisibleText.quoted(url)) is out of range; use 1 to 65535"
            )
        }
    }

    private static func lowercasingScheme(_ scheme: String, of url: URL) -> URL {
        let lowercased = scheme.lowercased()
        guard scheme != lowercased else { return url }
        return URL(string: lowercased + url.absoluteString.dropFirst(scheme.count)) ?? url
    }
}
