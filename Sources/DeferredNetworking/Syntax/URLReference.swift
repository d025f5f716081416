package import Foundation

/// References to resources, as in the fields `Location` and `Link`: RFC 3986, section 4.1.
package enum URLReference {
    /// Returns the absolute URL of a reference in a response from `base`, with only illegal characters percent-encoded:
    /// RFC 3986, section 5. Returns nil if it can't be one.
    package static func resolved(_ reference: String, against base: URL?) -> URL? {
        let reference = String(FieldList.trimmed(reference[...]))
        // Without a path, it has that of the base, as that is.
        let hasPath = reference.first.map { !"?#".contains($0) } ?? false
        let basePath = hasPath ? nil : base?.absoluteURL.path(percentEncoded: true)
        guard let url = URL(string: encoded(reference), relativeTo: base)?.absoluteURL else { return nil }
        guard basePath != nil || PathSegments.hasDots(url.path(percentEncoded: true)),
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url }
        // Foundation leaves the dots of a reference that has a scheme.
        parts.percentEncodedPath = basePath ?? PathSegments.resolved(parts.percentEncodedPath)
        return parts.url ?? url
    }

    private static let delimiters = ByteSet("/?#")

    /// Encodes what Foundation would: it encodes all of a path or query that has an illegal character, escapes, too.
    private static func encoded(_ reference: String) -> String {
        var rest = reference.utf8[...]
        var start = ""
        let first = rest.firstIndex(where: delimiters.contains) ?? rest.endIndex
        if rest[first...].starts(with: "//".utf8), first == rest.startIndex || rest[..<first].last == UInt8(ascii: ":")
        {
            // Foundation encodes the host, which may be an international name.
            let end = rest[first...].dropFirst(2).firstIndex(where: delimiters.contains) ?? rest.endIndex
            start = String(Substring(rest[..<end]))
            rest = rest[end...]
        }
        let parts = rest.split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false).map {
            PercentEncoding.encode(String(Substring($0)), allowing: PercentEncoding.query, keepsEscapes: true)
        }
        return start + parts.joined(separator: "#")
    }
}
