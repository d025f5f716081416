internal import Foundation

/// Identifies the resource that stored responses are of: a partition, and a URL without user, password and fragment.
struct CacheKey: Hashable, Sendable {
    /// The partition, the scheme, the host and the port.
    let origin: String

    /// The path and the query, as they are sent.
    let target: String

    /// - Returns: `nil` for a request without a host, and for other schemes than `http` and `https`.
    init?(_ request: HTTPRequest) { self.init(request.parts, partition: request.cachePartition) }

    init?(_ parts: URLParts, partition: String?) {
        let scheme = (parts.scheme ?? "https").lowercased()
        guard let host = parts.host, !host.isEmpty, scheme == "https" || scheme == "http" else { return nil }
        let port = parts.port ?? (scheme == "https" ? 443 : 80)
        // Neither a scheme nor a host has a space, so that no partition can pass for another one, or for none.
        origin = (partition.map { $0 + " " } ?? "") + scheme + "://" + host.lowercased() + ":" + String(port)
        let path = parts.path.utf8.first == UInt8(ascii: "/") ? parts.path : "/" + parts.path
        target = parts.query.map { path + "?" + $0 } ?? path
    }

    /// Returns the key of a URL in a field of a response, such as `Location`.
    func resolving(_ reference: String?, against url: URL?, partition: String?) -> CacheKey? {
        guard let reference, let url,
            let resolved = URL(string: String(FieldList.trimmed(Substring(reference))), relativeTo: url)
        else { return nil }
        return CacheKey(URLParts(resolved.absoluteURL), partition: partition)
    }

    /// The key as text, by which it is stored.
    var text: String { origin + target }
}
