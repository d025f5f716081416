internal import DeferredNetworking
public import Foundation

/// The server for requests without a host, and the additions to these requests. See ``ApplyEnvironment``.
public struct HTTPEnvironment: Sendable, Hashable {
    /// The scheme: `http` or `https`.
    public var scheme: String

    /// The host: a name or an address.
    public var host: String

    /// The port; `nil` for the scheme's default.
    public var port: Int?

    /// The prefix of the path, such as `/v2`; not encoded.
    public var pathPrefix: String

    /// The query items that precede those of the request; not encoded.
    public var query: [URLQueryItem]

    /// The header fields to add to requests that don't have a field with the same name.
    public var headers: HTTPHeaders

    /// Creates an environment.
    public init(
        scheme: String = "https",
        host: String,
        port: Int? = nil,
        pathPrefix: String = "",
        query: [URLQueryItem] = [],
        headers: HTTPHeaders = [:]
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.pathPrefix = pathPrefix
        self.query = query
        self.headers = headers
    }
}

extension HTTPEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL, without credentials.
    public var description: String {
        var parts = HTTPRequest(host: host, path: pathPrefix, query: query).parts
        (parts.scheme, parts.port) = (scheme, port)
        return DisplayText.line(parts.redacted)
    }

    /// The base URL and the headers, without credentials.
    public var customMirror: Mirror {
        Mirror(self, children: ["environment": description, "headers": headers])
    }
}
