import Foundation

/// Keeps credentials out of descriptions and logs.
enum Redaction {
    /// What stands in the place of a secret.
    static let mark = "…"

    private static let telltales = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "api-key", "api_key", "apikey",
        "credential",
        "session", "signature",
    ]
    private static let exactNames: Set<String> = ["key", "sig", "code", "auth", "pwd", "jwt"]

    /// Whether a header field or a query item with this name is likely to hold a credential.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return exactNames.contains(name) || telltales.contains { name.contains($0) }
    }

    /// A query in which the values of likely credentials are left out.
    ///
    /// - Parameter query: Percent-encoded.
    static func query(_ query: String) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let name = pair[..<equals].removingPercentEncoding ?? String(pair[..<equals])
            return isSecret(name) ? pair[...equals] + mark : String(pair)
        }.joined(separator: "&")
    }
}
