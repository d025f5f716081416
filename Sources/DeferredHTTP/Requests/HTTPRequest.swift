// Methods, header fields, statuses and body streams are there, and are this module's, too.
@_exported public import DeferredNetworking
public import Foundation

/// An HTTP request, as a value that can be changed freely and loaded as often as needed.
///
/// Build it from a URL, or from parts; characters that a part can't hold are percent-encoded. A request without a host
/// is completed by ``ApplyEnvironment``.
///
/// ```swift
/// var request = HTTPRequest(.post, path: "/users", query: [.init(name: "notify", value: "a+b")])
/// request.body = try .json(user)
/// request.retryStrategy = .never
/// let user = try await chain.load(request).get().decode(User.self)
/// ```
///
/// A request that can't be sent fails when it is loaded, with ``HTTPError/Code/invalidRequest`` and the reason. Its
/// description shows no credentials.
///
/// Copies share their contents until one of them is changed, so that passing a request on costs one reference.
public struct HTTPRequest: Sendable, Identifiable {
    private var contents: Contents

    /// Creates a request to a URL, which is used unchanged.
    public init(_ method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        contents = Contents(Values(method: method, headers: headers, body: body, parts: URLParts(url), url: url))
    }

    /// Creates a request from parts.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - scheme: `http` or `https`; `nil` for the environment's or, without an environment, `https`.
    ///   - host: A name or an address; `nil` for the environment's.
    ///   - port: The port; `nil` for the environment's or the scheme's default.
    ///   - path: The path, not encoded. See ``appendPathSegments(_:)`` for segments that contain slashes.
    ///   - query: The query items, not encoded; empty for none.
    ///   - headers: The header fields.
    ///   - body: The body.
    public init(
        _ method: HTTPMethod = .get,
        scheme: String? = nil,
        host: String? = nil,
        port: Int? = nil,
        path: String = "",
        query: [URLQueryItem] = [],
        headers: HTTPHeaders = HTTPHeaders(),
        body: HTTPBody = .empty
    ) {
        let path = PercentEncoding.encode(path, allowing: PercentEncoding.path)
        let parts = URLParts(scheme: scheme, host: host, port: port, path: path)
        contents = Contents(Values(method: method, headers: headers, body: body, parts: parts))
        if !query.isEmpty { self.query = query }
    }

    /// The identifier of this request, which distinguishes it from others that look the same. Copies share it.
    public var id: UUID { values.identity.uuid }

    /// The method.
    public var method: HTTPMethod {
        _read { yield values.method }
        _modify { yield &values.method }
    }

    /// The header fields. If they have no `Content-Type`, that of the body is added.
    public var headers: HTTPHeaders {
        _read { yield values.headers }
        _modify { yield &values.headers }
    }

    /// The body.
    public var body: HTTPBody {
        _read { yield values.body }
        _modify { yield &values.body }
    }

    package var parts: URLParts {
        _read { yield values.parts }
        _modify {
            values.url = nil
            yield &values.parts
        }
    }

    /// Returns the URL that the parts make up: the one with which the request was created, if that can be sent as it is.
    func makeURL() throws(URLClientError) -> URL {
        if let url = values.url, (try? CheckedRequest.checkedURL(url)) == url { return url }
        return try parts.makeURL()
    }

    package var options: HTTPRequestOptions {
        _read { yield values.options }
        _modify { yield &values.options }
    }

    /// Returns true if the requests differ at most in their identifiers and options.
    func isAlike(_ other: HTTPRequest) -> Bool {
        contents === other.contents
            || method == other.method && parts == other.parts && headers == other.headers && body == other.body
    }

    private var values: Values {
        _read { yield contents.values }
        _modify {
            if !isKnownUniquelyReferenced(&contents) { contents = Contents(contents.values) }
            yield &contents.values
        }
    }

    private struct Values: Sendable {
        let identity = Identity()
        var method: HTTPMethod
        var headers: HTTPHeaders
        var body: HTTPBody
        var parts: URLParts
        var options = HTTPRequestOptions()
        /// The URL that the request was created with, until its parts are changed.
        var url: URL?
    }

    /// SAFETY: changed only by the one value that refers to it.
    private final class Contents: @unchecked Sendable {
        @exclusivity(unchecked) var values: Values

        init(_ values: Values) { self.values = values }
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the URL in one line, without credentials.
    public var description: String { DisplayText.line("\(method) \(parts.redacted)") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The method, the URL, the headers and the body, without credentials.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headers": headers, "body": body])
    }
}

extension HTTPRequest {
    /// The longest idle time, in either direction, before the request fails with ``HTTPError/Code/timedOut``; `nil` for
    /// the terminal loader's configured value, and `.noLimit` for none.
    public var timeout: Duration? {
        get { self[TimeoutOption.self] }
        set { self[TimeoutOption.self] = newValue }
    }

    /// A closure that gets the interim responses, such as a 103; `nil` for none.
    ///
    /// See ``DeferredNetworking/URLClient/RequestOptions/onInterimResponse``. ``Deduplicate`` doesn't merge such requests.
    public var onInterimResponse: (@Sendable (ResponseHead) -> Void)? {
        get { self[InterimResponseOption.self] }
        set { self[InterimResponseOption.self] = newValue }
    }

    /// The highest rate at which the response's body is received, in bytes a second, at least 1; `nil` for no limit.
    ///
    /// See ``DeferredNetworking/URLClient/RequestOptions/rateLimit``. The loader ``RateLimit`` limits the number of
    /// requests.
    public var rateLimit: Int? {
        get { self[RateLimitOption.self] }
        set { self[RateLimitOption.self] = newValue }
    }
}

private enum RateLimitOption: HTTPRequestOption {
    static let defaultValue: Int? = nil
}

private enum InterimResponseOption: HTTPRequestOption {
    static let defaultValue: (@Sendable (ResponseHead) -> Void)? = nil
}

private enum TimeoutOption: HTTPRequestOption {
    static let defaultValue: Duration? = nil
}
