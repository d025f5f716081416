public import Foundation

/// A request: a value, to be changed freely and loaded as often as needed.
///
/// Build it from a URL, or from parts; what a part can't hold is percent-encoded. One without a host is completed by
/// ``ApplyEnvironment``.
///
/// ```swift
/// var request = HTTPRequest(.post, path: "/users", query: [.init(name: "notify", value: "a+b")])
/// request.body = try .json(user)
/// request.retryStrategy = .never
/// let user = try await chain.load(request).task.get().decode(User.self)
/// ```
///
/// A request that can't be sent fails when it is loaded, with ``HTTPError/Code/invalidRequest`` and the reason. Its
/// description shows no credentials.
public struct HTTPRequest: Sendable, Identifiable {
    /// Tells this request from others that look the same. Copies share it.
    public let id = UUID()

    /// What is asked for.
    public var method: HTTPMethod

    /// The header fields. `Content-Type` is added when the body has one and these don't.
    public var headers: HTTPHeaders

    /// What is sent.
    public var body: HTTPBody

    var parts: URLParts
    var options = HTTPRequestOptions()

    /// Creates a request to a URL. All of it is kept as it is.
    public init(_ method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        (self.method, self.headers, self.body) = (method, headers, body)
        parts = URLParts(url)
    }

    /// Creates a request from parts.
    ///
    /// - Parameters:
    ///   - method: What is asked for.
    ///   - scheme: `http` or `https`; `nil` for `https`, or that of the environment.
    ///   - host: A name or an address; `nil` for that of the environment.
    ///   - port: `nil` for that of the scheme, or of the environment.
    ///   - path: Not encoded. See ``appendPathSegments(_:)`` for segments that contain slashes.
    ///   - query: Not encoded; empty for none.
    ///   - headers: The header fields.
    ///   - body: What is sent.
    public init(
        _ method: HTTPMethod = .get,
        scheme: String? = nil,
        host: String? = nil,
        port: Int? = nil,
        path: String = "",
        query: [URLQueryItem] = [],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) {
        (self.method, self.headers, self.body) = (method, headers, body)
        parts = URLParts()
        (parts.scheme, parts.host, parts.port) = (scheme, host, port)
        self.path = path
        if !query.isEmpty { self.query = query }
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the URL, without credentials.
    public var description: String { "\(method) \(parts.redacted)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The method, the URL, the headers and the body, without credentials.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headers": headers, "body": body])
    }
}
