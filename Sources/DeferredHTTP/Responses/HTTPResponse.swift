public import DeferredNetworking
public import Foundation

/// The response to a request.
///
/// Its body is in memory, unless the request's ``HTTPRequest/delivery`` says otherwise. Copies share their contents, so
/// that passing a response on costs one reference.
public struct HTTPResponse: Sendable {
    private var contents: Contents

    /// Creates a response, for a custom terminal loader.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - body: The whole body.
    ///   - url: The URL of the response, after redirects.
    ///   - trailers: The fields that came behind the body.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = HTTPHeaders(),
        body: Data = Data(),
        url: URL? = nil,
        trailers: HTTPHeaders = HTTPHeaders()
    ) {
        self.init(request: request, status: status, headers: headers, .data(body), url: url, trailers: trailers)
    }

    /// Creates a response whose body is read as it arrives, for a custom terminal loader.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = HTTPHeaders(),
        stream: HTTPBodyStream,
        url: URL? = nil
    ) {
        self.init(request: request, status: status, headers: headers, .stream(stream), url: url)
    }

    /// Creates a response whose body is in a file, for a custom terminal loader.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = HTTPHeaders(),
        file: URL,
        url: URL? = nil
    ) {
        self.init(request: request, status: status, headers: headers, .file(file), url: url)
    }

    /// The request as it was sent, with all changes by the loaders.
    public var request: HTTPRequest { contents.values.request }

    /// The status. A response can have any status, unless ``Validate`` is in the chain.
    public var status: HTTPStatus { contents.values.status }

    /// The header fields.
    ///
    /// They are in the order and the number in which they came, each `Set-Cookie` by itself. `URLSession` preserves
    /// neither: over a client with that engine they are sorted by name, and those with the same name are joined with
    /// commas.
    public var headers: HTTPHeaders { contents.values.headers }

    /// The fields that came behind the body; of a ``stream``, once it was read to its end.
    ///
    /// See ``DeferredNetworking/ResponseHead/trailers``.
    public var trailers: HTTPHeaders { stream?.trailers ?? contents.values.trailers }

    /// The body in memory; empty if it is a ``stream`` or in a ``file``.
    public var body: Data {
        if case .data(let data) = contents.values.body { data } else { Data() }
    }

    /// The body as a stream, for a request with the delivery ``HTTPRequest/Delivery/stream``; otherwise `nil`.
    public var stream: HTTPBodyStream? {
        if case .stream(let stream) = contents.values.body { stream } else { nil }
    }

    /// The file with the body, if the request asked for a file and the status is a success; otherwise `nil`.
    public var file: URL? {
        if case .file(let file) = contents.values.body { file } else { nil }
    }

    /// The URL of the response, after redirects; `nil` if the terminal loader doesn't provide it.
    public var url: URL? { contents.values.hasURLOfRequest ? request.url : contents.values.url }

    /// The body as UTF-8 text; invalid bytes are replaced by `U+FFFD`.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The place where the response came from: the network, unless a ``DeferredCache/Cache`` is in the chain.
    public var source: Source { contents.values.source }

    /// The reason for which a cache has given a stale response; `nil` unless ``source-swift.property`` is one.
    public var staleReason: StaleReason? { contents.values.staleReason }

    /// The links in the fields `Link`, in order: see ``DeferredNetworking/ResponseHead/links``.
    ///
    /// ```swift
    /// let next = response.links.first { $0.relations.contains("next") }?.url
    /// ```
    public var links: [ResponseHead.Link] { ResponseHead.links(in: headers, of: url ?? request.url) }

    /// The ways in which the server wants the request to be authenticated, in order of its preference, from the fields
    /// `WWW-Authenticate`.
    public var challenges: [AuthenticationChallenge] { AuthenticationChallenge.challenges(in: headers) }

    /// Creates a response with any kind of body.
    ///
    /// - Parameter hasURLOfRequest: True if `url` is that of the request, to be made when it is asked for.
    package init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders,
        _ body: Body,
        url: URL? = nil,
        hasURLOfRequest: Bool = false,
        source: Source = .network,
        trailers: HTTPHeaders = HTTPHeaders(),
        staleReason: StaleReason? = nil
    ) {
        contents = Contents(
            Values(
                request: request,
                status: status,
                headers: headers,
                body: body,
                url: url,
                hasURLOfRequest: hasURLOfRequest,
                source: source,
                trailers: trailers,
                staleReason: staleReason
            )
        )
    }

    /// Returns this response with other parts, for a loader that changes responses; whatever isn't given stays.
    package func with(headers: HTTPHeaders? = nil, body: Body? = nil) -> HTTPResponse {
        var (copy, values) = (self, contents.values)
        if let headers { values.headers = headers }
        if let body { values.body = body }
        copy.contents = Contents(values)
        return copy
    }

    /// The forms of a body.
    package enum Body: Sendable {
        case data(Data)
        case stream(HTTPBodyStream)
        case file(URL)
    }

    private struct Values: Sendable {
        let request: HTTPRequest
        let status: HTTPStatus
        var headers: HTTPHeaders
        var body: Body
        let url: URL?
        let hasURLOfRequest: Bool
        let source: Source
        let trailers: HTTPHeaders
        let staleReason: StaleReason?
    }

    private final class Contents: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }
}

/// The result of a request.
public typealias HTTPResult = Result<HTTPResponse, HTTPError>

extension Result<HTTPResponse, HTTPError> {
    /// The response that arrived, also if a ``Validate`` further down the chain has refused its status or its type.
    var arrived: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error):
            error.code == .unacceptableStatus || error.code == .invalidResponse ? error.response : nil
        }
    }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The request, the status and the length of the body, without credentials.
    public var description: String { "\(request): \(status), \(bodyDescription)" }

    /// The status, the headers and the length of the body, without credentials.
    public var customMirror: Mirror {
        Mirror(self, children: ["response": description, "headers": headers])
    }

    var bodyDescription: String {
        switch contents.values.body {
        case .data(let data): "\(data.count) bytes"
        case .stream: "a stream"
        case .file(let file): "a file at \(DisplayText.line(file.path))"
        }
    }
}

extension HTTPResponse {
    /// Decodes the body, by default from JSON.
    ///
    /// ```swift
    /// let user = try await chain.load(request).get().decode(User.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: Any ``DeferredNetworking/BodyDecoder``. Several threads can share it, unless one changes it.
    /// - Throws: ``HTTPError`` with the code ``HTTPError/Code/cannotDecode``, this response, and the decoder's error, whose
    ///   place in the body and value its description shows; or a ``HTTPError/reason``, if the body is a stream or in a file.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self,
        using decoder: some BodyDecoder = JSONDecoder()
    ) throws(HTTPError) -> T {
        guard case .data = contents.values.body else {
            throw HTTPError(
                .cannotDecode,
                request: request,
                response: self,
                reason: "the body is not in memory, because of the request's delivery; collect the stream or read the "
                    + "file, or leave the delivery at .data"
            )
        }
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw HTTPError(.cannotDecode, request: request, response: self, underlying: error)
        }
    }

    /// The type of the body in lower case, without parameters: `application/json`.
    var mediaType: String? {
        headers["Content-Type"].map { type in
            type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        }
    }

    /// The type of the body in words, for the reason of an error.
    var shownType: String { headers["Content-Type"].map { "the type \(DisplayText.quoted($0))" } ?? "no type" }
}
