internal import DeferredCore
package import Foundation

/// Keeps credentials out of descriptions and logs, and from other origins.
///
/// Descriptions of requests, responses and errors leave out the values of header fields and query items whose names
/// contain `key`, `token`, `secret`, `pass`, `auth`, `signature`, `credential`, `session`, `cookie` or `assertion`, in
/// any case, and those named `sig`, `code`, `pwd` or `jwt`; of a query item also a value that has such a name within it, as a
/// URL may. A redirect to another origin drops these header fields, except `Idempotency-Key`. Add other names that your
/// servers use:
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
            let (name, value) = (decoded(pair[..<equals]), decoded(pair[equals...].dropFirst()))
            // The value may be a URL with a query of its own, or have items behind a `;`.
            let mayHaveNames = value.contains { $0 == "=" || $0 == ":" || $0.isWhitespace }
            return isSecret(name) || mayHaveNames && text(value) != value ? pair[...equals] + mark : String(pair)
        }.joined(separator: "&")
    }

    private static func decoded(_ part: Substring) -> String { part.removingPercentEncoding ?? String(part) }

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

    /// Returns a text without what follows the names of likely credentials, and without users in URLs.
    package static func text(_ text: String) -> String {
        let scheme = /(?i)(bearer|basic|token)\s+/
        let ends = Set<Character>(" \t\r\n&,;\"'<>)}]")
        var result = ""
        var rest = text[...]
        // From delimiter to delimiter: a search for names would begin at each character of a long one.
        while let delimiter = rest.firstIndex(where: { $0 == "=" || $0 == ":" }) {
            let name = Self.name(before: rest[..<delimiter])
            var value = rest[rest.index(after: delimiter)...]
            if !name.isEmpty {
                value = value.drop(while: \.isWhitespace)
                if value.first == "\"" || value.first == "'" { value = value.dropFirst() }
            }
            result += rest[..<value.startIndex]
            rest = value
            guard !name.isEmpty, isSecret(String(name)) else { continue }
            if let match = rest.prefixMatch(of: scheme) { rest = rest[match.range.upperBound...] }
            rest = rest.drop { !ends.contains($0) }
            result += mark
        }
        return (result + rest)
            .replacing(/(?i)(bearer|basic)\s+[^\s,;"']+/) { "\($0.1) \(mark)" }
            .replacing(/:\/\/[^\/\s@]*@/) { _ in "://\(mark)@" }
    }

    /// Returns the name at the end of a text, before white space and a quotation mark; empty for none.
    private static func name(before text: Substring) -> Substring {
        var text = text
        while text.last?.isWhitespace == true { text = text.dropLast() }
        if text.last == "\"" || text.last == "'" { text = text.dropLast() }
        let other = text.lastIndex { !($0.asciiValue.map(nameBytes.contains) ?? false) }
        return text[(other.map(text.index(after:)) ?? text.startIndex)...]
    }

    private static let nameBytes = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
}
