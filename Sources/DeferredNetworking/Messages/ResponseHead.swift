#if canImport(FoundationNetworking)
public import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// The head of a response: its status and its header fields.
///
/// ```swift
/// let (data, head) = try await client.begin(url).get()
/// if head.status == 200, head.headers["Content-Type"] == "text/html" { show(data, relativeTo: head.url) }
/// ```
///
/// The fields are in the order and the number in which they came, each `Set-Cookie` by itself. `URLSession` preserves
/// neither: over a client with that engine they are sorted by name, and those with the same name are joined with commas.
///
/// Copies share their contents, so that passing a head on costs one reference.
public struct ResponseHead: Sendable {
    private let contents: Contents

    /// Creates a head, for example in a test double of a client.
    public init(url: URL, version: String? = "HTTP/1.1", status: HTTPStatus, headers: HTTPHeaders = [:]) {
        self.init(Values(url: url, version: version, status: status, headers: headers))
    }

    /// Creates the head of a response of Foundation's, with its fields sorted by name.
    public init(_ response: HTTPURLResponse) {
        self.init(platform: response)
    }

    /// Creates the head of a response from a client's cache.
    ///
    /// - Parameters:
    ///   - age: The time since the server made or confirmed the response; `nil` if it isn't from the cache.
    ///   - isConfirmed: True if the server has just confirmed it.
    package init(url: URL, status: HTTPStatus, headers: HTTPHeaders, age: Duration?, isConfirmed: Bool) {
        self.init(
            Values(url: url, version: "HTTP/1.1", status: status, headers: headers, age: age, isConfirmed: isConfirmed)
        )
    }

    /// Creates the head of a response of Foundation's, which may be to a scheme other than HTTP.
    init(platform response: URLResponse) {
        let http = response as? HTTPURLResponse
        let fields = (http?.allHeaderFields ?? [:]).compactMap { name, value -> HTTPHeaders.Field? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return HTTPHeaders.Field(name: name, value: value)
        }
        let values = Values(
            // Every response that a `URLProtocol` can make has one.
            url: response.url ?? URL(fileURLWithPath: "/"),
            version: nil,
            status: HTTPStatus(http?.statusCode ?? 0),
            headers: HTTPHeaders(fields.sorted { $0.name < $1.name }),
            platform: response
        )
        self.init(values)
    }

    /// The URL of the response, after redirects.
    public var url: URL { contents.values.url }

    /// The HTTP version, such as "HTTP/1.1"; `nil` where the platform doesn't tell it, as over `URLSession`.
    public var version: String? { contents.values.version }

    /// The status. Zero for the response of a caller's `URLProtocol` that isn't HTTP, which only `URLSession.begin…` has.
    public var status: HTTPStatus { contents.values.status }

    /// The header fields.
    public var headers: HTTPHeaders { contents.values.headers }

    /// The fields that came behind the body; none in the head of a stream, which has them itself: see
    /// ``HTTPBodyStream/trailers``.
    ///
    /// They are never part of ``headers``. Left out are fields that a trailer must not have, since they frame, route or
    /// authenticate: RFC 9110, section 6.5.1. Only with ``URLClient/Configuration/Engine/libcurl``, and not from a cache.
    public var trailers: HTTPHeaders { contents.values.trailers }

    /// The time since the server made or confirmed the response, if a client's cache has it; `nil` otherwise.
    var age: Duration? { contents.values.age }

    /// True if the server has just confirmed the response from the cache.
    var isConfirmed: Bool { contents.values.isConfirmed }

    /// The head as an object of Foundation's, which renames the fields and joins those with the same name with commas.
    ///
    /// - Complexity: O(*n*) in the size of the fields, unless the engine is `URLSession`: the object is made each time.
    public var httpURLResponse: HTTPURLResponse {
        if let response = contents.values.platform as? HTTPURLResponse { return response }
        var joined: [String: (name: String, value: String)] = [:]
        for field in headers where !field.name.isEmpty {
            let key = field.name.lowercased()
            if joined[key]?.value.append(", " + field.value) == nil { joined[key] = (field.name, field.value) }
        }
        let response = HTTPURLResponse(
            url: url,
            statusCode: status.code,
            httpVersion: version,
            headerFields: Dictionary(uniqueKeysWithValues: joined.values.map { ($0.name, $0.value) })
        )
        guard let response else { preconditionFailure("Foundation makes no response for the URL \(url)") }
        return response
    }

    /// The platform's object, which may be of a response that isn't HTTP.
    var urlResponse: URLResponse { contents.values.platform ?? httpURLResponse }

    package var isHTTP: Bool { status.code > 0 }

    /// Returns the head, unless the response isn't HTTP.
    ///
    /// - Throws: `URLError.badServerResponse` for a response that isn't HTTP.
    package func requiringHTTP() throws(URLError) -> ResponseHead {
        guard isHTTP else { throw URLError(.badServerResponse, failing: url) }
        return self
    }

    /// True if the platform has joined fields of one name by commas.
    var areFieldsJoined: Bool { contents.values.platform != nil }

    /// Returns the value of a field, whatever its case; several are joined by commas: RFC 9110, section 5.3.
    package func value(of name: String) -> String? {
        headers.combined(name)
    }

    /// Returns the head with what has come behind its body.
    func with(trailers: HTTPHeaders) -> ResponseHead {
        if trailers.fields.isEmpty { return self }
        var values = contents.values
        values.trailers = trailers
        return ResponseHead(values)
    }

    private init(_ values: Values) { contents = Contents(values) }

    /// Returns the head of a redirect whose body is not read.
    func withoutLength() -> ResponseHead {
        var headers = headers
        headers.remove("Content-Length")
        return ResponseHead(url: url, version: version, status: status, headers: headers)
    }

    private struct Values {
        let url: URL
        let version: String?
        let status: HTTPStatus
        let headers: HTTPHeaders

        /// The platform's object, which has merged the fields; `nil` if there is none yet.
        var platform: URLResponse?
        var trailers: HTTPHeaders = [:]
        var age: Duration?
        var isConfirmed = false
    }

    private final class Contents: Sendable {
        let values: Values
        init(_ values: Values) { self.values = values }
    }
}

/// Heads are equal if their URLs, versions, statuses and fields are.
extension ResponseHead: Hashable {
    /// Compares URL, version, status and fields.
    public static func == (one: Self, other: Self) -> Bool {
        one.url == other.url && one.version == other.version && one.status == other.status
            && one.headers == other.headers
    }

    /// Hashes URL, status and fields.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(status)
        hasher.combine(headers)
    }
}

extension ResponseHead: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line: the status and the URL, without credentials.
    public var description: String { "\(status) \(DisplayText.quoted(url))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The status and the fields, of credentials only the names.
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "headers": headers]) }
}
