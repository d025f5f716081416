package import Foundation

/// Keeps credentials out of descriptions and logs.
package enum Redaction {
    /// What stands in the place of a secret.
    package static let mark = "…"

    private static let telltales = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "api-key", "api_key", "apikey",
        "credential",
        "session", "signature",
    ]
    private static let exactNames: Set<String> = ["key", "sig", "code", "auth", "pwd", "jwt"]

    /// Whether a header field or a query item with this name is likely to hold a credential.
    package static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return exactNames.contains(name) || telltales.contains { name.contains($0) }
    }

    /// A query, or a fragment, in which the values of likely credentials are left out.
    ///
    /// - Parameter query: Percent-encoded.
    package static func query(_ query: String) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let name = pair[..<equals].removingPercentEncoding ?? String(pair[..<equals])
            return isSecret(name) ? pair[...equals] + mark : String(pair)
        }.joined(separator: "&")
    }

    /// A URL's text without its user, its password, and what else looks like a secret.
    package static func url(_ url: URL) -> String {
        var text = url.absoluteString
        var tail = ""
        for delimiter in ["#", "?"] as [Character] {
            guard let start = text.firstIndex(of: delimiter) else { continue }
            tail = String(delimiter) + query(String(text[text.index(after: start)...])) + tail
            text = String(text[..<start])
        }
        guard let authority = text.range(of: "//") else { return text + tail }
        let end = text[authority.upperBound...].firstIndex(of: "/") ?? text.endIndex
        guard let at = text[authority.upperBound..<end].lastIndex(of: "@") else { return text + tail }
        return text[..<authority.upperBound] + mark + text[at...] + tail
    }
}
