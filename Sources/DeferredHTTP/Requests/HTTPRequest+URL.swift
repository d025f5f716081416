internal import DeferredNetworking
public import Foundation

extension HTTPRequest {
    /// The scheme, `http` or `https`; `nil` for the environment's or, without an environment, `https`.
    public var scheme: String? {
        get { parts.scheme }
        set { parts.scheme = newValue }
    }

    /// The host, a name or an address; `nil` for the environment's.
    ///
    /// An IPv6 address may be in brackets, and have a zone: `::1`, `[::1]`, `fe80::1%eth0`. On Linux, only a client with
    /// the engine `.libcurl` connects to it.
    public var host: String? {
        get { parts.host }
        set { parts.host = newValue }
    }

    /// The port; `nil` for the environment's or the scheme's default.
    public var port: Int? {
        get { parts.port }
        set { parts.port = newValue }
    }

    /// The path, decoded. Setting it encodes characters that a path can't hold.
    ///
    /// The segments `.` and `..` are sent as they are given, since they name objects in some stores. Other servers take
    /// them for a folder and the one above. Only a client with the engine libcurl sends them; URLSession would resolve
    /// them, and such a request fails with ``HTTPError/Code/invalidRequest``.
    public var path: String {
        get { parts.path.removingPercentEncoding ?? parts.path }
        set {
            parts.path = PercentEncoding.encode(newValue, allowing: PercentEncoding.path)
            parts.refusedSegment = nil
        }
    }

    /// The path as it is sent, but for the slash that is put before one that begins with none.
    public var percentEncodedPath: String { parts.path }

    /// Adds segments to the path. A slash in one of them is encoded.
    ///
    /// The segments `.` and `..` are refused, since servers would take them for the same and the parent folder, also if
    /// they were encoded: the request fails with ``HTTPError/Code/invalidRequest`` when it is loaded. Where they are the
    /// name of an object, set ``path``.
    public mutating func appendPathSegments(_ segments: String...) {
        for segment in segments {
            if segment == "." || segment == ".." { parts.refusedSegment = segment }
            if !parts.path.hasSuffix("/") { parts.path += "/" }
            parts.path += PercentEncoding.encode(segment, allowing: PercentEncoding.segment)
        }
    }

    /// The items of the query, decoded, in order. Setting them encodes each; an empty array removes the query.
    public var query: [URLQueryItem] {
        get {
            guard let query = parts.query, !query.isEmpty else { return [] }
            return query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let decoded = parts.map { $0.removingPercentEncoding ?? String($0) }
                return URLQueryItem(name: decoded[0], value: decoded.count > 1 ? decoded[1] : nil)
            }
        }
        set {
            parts.query = newValue.isEmpty ? nil : Self.encoded(newValue)
        }
    }

    /// Adds an item to the query. The other items stay as they are.
    public mutating func addQueryItem(name: String, value: String?) {
        let item = Self.encoded([URLQueryItem(name: name, value: value)])
        parts.query = parts.query.map { $0.isEmpty ? item : $0 + "&" + item } ?? item
    }

    /// The query as it is sent; `nil` for none.
    public var percentEncodedQuery: String? { parts.query }

    /// The whole URL; `nil` if it has no host or is invalid.
    public var url: URL? { try? makeURL() }

    private static func encoded(_ items: [URLQueryItem]) -> String {
        let allowed = PercentEncoding.queryItem
        return items.map { item in
            let name = PercentEncoding.encode(item.name, allowing: allowed)
            return item.value.map { name + "=" + PercentEncoding.encode($0, allowing: allowed) } ?? name
        }.joined(separator: "&")
    }
}
