internal import DeferredCore
package import Foundation

/// Keeps credentials out of descriptions and logs, and from other origins.
///
/// Descriptions of requests, responses and errors leave out the values of header fields and query items whose names
/// contain `key`, `token`, `secret`, `pass`, `auth`, `signature`, `credential`, `session`, `cookie` or `assertion`, in
/// any case, and those named `sig`, `code`, `pwd` or `jwt`. A redirect to another origin drops these header fields, except
/// `Idempotency-Key`. Add other names that your servers use:
///
/// ```swift
/// Redaction.add(names: ["X-Tenant", "pin"])
/// ```
public enum Redaction {
    /// The text that replaces a secret.
    package static let mark = "…"

    private static let fragments = [
        "key", "token", "secret", "pass", "auth", "signature", "credential", "session", "cookie", "assertion",
    ]
    private static let names: Set<String> = ["sig", "code", "pwd", "jwt"]
    private static let addedNames = Lock<Set<String>>([])

    /// Treats header fields and query items with these names as secrets from now on, in the whole process.
    ///
    /// - Parameter names: Whole names, compared without regard to case.
    public static func add(names: some Sequence<String>) {
        let names = names.map { $0.lowercased() }
        addedNames.withLock { $0.formUnion(names) }
    }

    /// Returns true if a header field or query item with this name is likely to hold a credential.
    package static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || fragments.contains { name.contains($0) }
            || addedNames.withLock { $0.contains(name) }
    }

    /// Returns a host without a user name and password that may precede it.
    package static func host(_ host: String) -> String {
        host.lastIndex(of: "@").map { mark + host[$0...] } ?? host
    }

    /// Returns a query or a fragment without the values of likely credentials.
    ///
    /// - Parameter query: The percent-encoded text.
    package static func query(_ query: String) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let name = pair[..<equals].removingPercentEncoding ?? String(pair[..<equals])
            return isSecret(name) ? pair[...equals] + mark : String(pair)
        }.joined(separator: "&")
    }

    /// Returns the text of a proxy's URL without anything that may be its user and its password: those of a URL that can't
    /// be read may contain any delimiter.
    package static func proxy(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return text }
        let scheme = text.prefixMatch(of: /[A-Za-z0-9+.\-]*:\/\//)?.output ?? ""
        return scheme + mark + text[at...]
    }

    /// Returns the text of a proxy's URL without credentials.
    package static func proxy(_ url: URL) -> String { proxy(self.url(url)) }

    /// Returns a URL without its user and its password.
    static func withoutUser(_ url: URL) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            parts.percentEncodedUser != nil || parts.percentEncodedPassword != nil
        else { return url }
        parts.percentEncodedUser = nil
        parts.percentEncodedPassword = nil
        return parts.url ?? url
    }

    /// Returns a URL's text without its user, its password, and likely credentials in its query and fragment.
    package static func url(_ url: URL) -> String { self.url(text: url.absoluteString) }

    /// Returns the text of a reference in a response, which may not be readable, without credentials.
    static func reference(_ text: String) -> String {
        URL(string: text) == nil ? proxy(url(text: text)) : url(text: text)
    }

    private static func url(text: String) -> String {
        var text = text
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
