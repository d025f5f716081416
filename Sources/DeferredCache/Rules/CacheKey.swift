public import DeferredHTTP
internal import DeferredNetworking
internal import Foundation

/// Identifies the resource that stored responses are of: a partition, and a URL without user, password and fragment.
struct CacheKey: Hashable, Sendable {
    let partition: String?
    /// In lower case.
    private let host: String
    /// The path and the query, as they are sent.
    let target: String
    /// No port that can be used is clamped.
    private let port: Int32
    private let isSecure: Bool

    /// - Returns: `nil` for a request without a host, and for other schemes than `http` and `https`.
    init?(_ request: HTTPRequest) { self.init(request.parts, partition: request.cachePartition) }

    init?(_ parts: URLParts, partition: String?) {
        guard let host = parts.host, !host.isEmpty else { return nil }
        let scheme = parts.scheme?.lowercased() ?? "https"
        guard scheme == "https" || scheme == "http" else { return nil }
        isSecure = scheme == "https"
        self.partition = partition
        self.host = host.lowercased()
        port = Int32(clamping: parts.port ?? (isSecure ? 443 : 80))
        let path = parts.path.utf8.first == UInt8(ascii: "/") ? parts.path : "/" + parts.path
        target = parts.query.map { path + "?" + $0 } ?? path
    }

    /// Returns whether the URL has the origin of another one, in the same partition.
    func hasOrigin(of other: CacheKey) -> Bool {
        host == other.host && port == other.port && isSecure == other.isSecure && isInPartition(of: other)
    }

    private func isInPartition(of other: CacheKey) -> Bool {
        guard let partition, let otherPartition = other.partition else { return partition == other.partition }
        return partition.hasBytes(of: otherPartition)
    }

    static func == (one: CacheKey, other: CacheKey) -> Bool {
        one.target == other.target && one.hasOrigin(of: other)
    }

    /// Leaves out what hardly any keys differ in alone.
    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(target)
        if let partition { hasher.combine(partition) }
    }

    /// Returns the key, in the same partition, of a URL in a field of a response, such as `Location`.
    func resolving(_ reference: String?, against url: URL?) -> CacheKey? {
        guard let reference, let url, let resolved = URLReference.resolved(reference, against: url) else { return nil }
        return CacheKey(URLParts(resolved), partition: partition)
    }

    /// True if nobody on the way can have changed the response.
    var isTrustworthy: Bool {
        isSecure || host == "localhost" || host == "::1" || host == "[::1]"
            || host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    }

    var url: URL? {
        let isUsual = port == (isSecure ? 443 : 80)
        return URL(string: (isSecure ? "https" : "http") + "://" + host + (isUsual ? "" : ":\(port)") + target)
    }

    /// Reads what ``text`` has made.
    init?(text: String) {
        // A URL has no space.
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let url = parts.last, let scheme = url.firstRange(of: "://"),
            let path = url[scheme.upperBound...].firstIndex(of: "/"),
            let colon = url[scheme.upperBound..<path].lastIndex(of: ":"),
            let port = Int32(url[url.index(after: colon)..<path])
        else { return nil }
        partition = parts.count > 1 ? parts.dropLast().joined(separator: " ") : nil
        host = String(url[scheme.upperBound..<colon])
        target = String(url[path...])
        self.port = port
        isSecure = url[..<scheme.lowerBound] == "https"
    }

    /// The key as text, by which it is stored.
    var text: String {
        // Neither a scheme nor a host has a space, so that no partition can pass for another one, or for none.
        let scheme = isSecure ? "https" : "http"
        return (partition.map { $0 + " " } ?? "") + scheme + "://" + host + ":" + String(port) + target
    }
}

extension HTTPRequest {
    /// A name that separates the stored responses to this request from those to requests with another name, or with
    /// none: for users of one process whose responses differ although their requests look the same. Names are compared by
    /// their bytes.
    public var cachePartition: String? {
        get { self[CachePartitionOption.self] }
        set { self[CachePartitionOption.self] = newValue }
    }
}
