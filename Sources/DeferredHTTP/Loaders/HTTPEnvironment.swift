internal import DeferredNetworking
public import Foundation

/// Where requests go that have no host of their own, and what is added to them. See ``ApplyEnvironment``.
public struct HTTPEnvironment: Sendable, Hashable {
    /// `http` or `https`.
    public var scheme: String

    /// A name or an address.
    public var host: String

    /// `nil` for that of the scheme.
    public var port: Int?

    /// What comes before the path, such as `/v2`; not encoded.
    public var pathPrefix: String

    /// What comes before the query; not encoded.
    public var query: [URLQueryItem]

    /// Header fields for requests that don't have one with the same name.
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
        (self.scheme, self.host, self.port) = (scheme, host, port)
        (self.pathPrefix, self.query, self.headers) = (pathPrefix, query, headers)
    }
}

extension HTTPEnvironment: CustomStringConvertible, CustomReflectable {
    /// The URL that requests begin with, without credentials.
    public var description: String {
        var parts = HTTPRequest(host: host, path: pathPrefix, query: query).parts
        (parts.scheme, parts.port) = (scheme, port)
        return DisplayText.line(parts.redacted)
    }

    /// The URL and the headers, without credentials.
    public var customMirror: Mirror {
        Mirror(self, children: ["environment": description, "headers": headers])
    }
}
