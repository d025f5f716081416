internal import DeferredNetworking
public import Foundation

/// The response to a request.
///
/// Its body is in memory, unless the request's ``HTTPRequest/delivery`` says otherwise. Copies share their contents, so
/// that passing a response on costs one reference.
public struct HTTPResponse: Sendable {
    private let contents: Contents

    /// Creates a response, for a custom terminal loader.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - body: The whole body.
    ///   - url: The URL of the response, after redirects.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = [:],
        body: Data = Data(),
        url: URL? = nil
    ) {
        self.init(request: request, status: status, headers: headers, .data(body), url: url)
    }

    /// Creates a response whose body is read as it arrives, for a custom terminal loader.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = [:],
        stream: HTTPBodyStream,
        url: URL? = nil
    ) {
        self.init(request: request, status: status, headers: headers, .stream(stream), url: url)
    }

    /// Creates a response whose body is in a file, for a custom terminal loader.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = [:],
        file: URL,
        url: URL? = nil
    ) {
        self.init(request: request, status: status, headers: headers, .file(file), url: url)
    }

    /// The request as it was sent, with all changes by the loaders.
    public var request: HTTPRequest { contents.request }

    /// The status. A response can have any status, unless ``Validate`` is in the chain.
    public var status: HTTPStatus { contents.status }

    /// The header fields.
    ///
    /// They are in the order and the number in which they came, each `Set-Cookie` by itself. `URLSession` preserves
    /// neither: over a client with that engine they are sorted by name, and those with the same name are joined with
    /// commas.
    public var headers: HTTPHeaders { contents.headers }

    /// The body in memory; empty if it is a ``stream`` or in a ``file``.
    public var body: Data {
        if case .data(let data) = contents.body { data } else { Data() }
    }

    /// The body as a stream, for a request with the delivery ``HTTPRequest/Delivery/stream``; otherwise `nil`.
    public var stream: HTTPBodyStream? {
        if case .stream(let stream) = contents.body { stream } else { nil }
    }

    /// The file with the body, if the request asked for a file and the status is a success; otherwise `nil`.
    public var file: URL? {
        if case .file(let file) = contents.body { file } else { nil }
    }

    /// The URL of the response, after redirects; `nil` if the terminal loader doesn't provide it.
    public var url: URL? { contents.url }

    /// The body as UTF-8 text; invalid bytes are replaced by `U+FFFD`.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Creates a response with any kind of body.
    init(request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders, _ body: Body, url: URL?) {
        contents = Contents(request, status, headers, body, url)
    }

    enum Body: Sendable {
        case data(Data)
        case stream(HTTPBodyStream)
        case file(URL)
    }

    private final class Contents: Sendable {
        let request: HTTPRequest
        let status: HTTPStatus
        let headers: HTTPHeaders
        let body: Body
        let url: URL?

        init(_ request: HTTPRequest, _ status: HTTPStatus, _ headers: HTTPHeaders, _ body: Body, _ url: URL?) {
            self.request = request
            self.status = status
            self.headers = headers
            self.body = body
            self.url = url
        }
    }
}

/// The result of a request.
public typealias HTTPResult = Result<HTTPResponse, HTTPError>

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The request, the status and the length of the body, without credentials.
    public var description: String { "\(request): \(status), \(bodyDescription)" }

    /// The status, the headers and the length of the body, without credentials.
    public var customMirror: Mirror {
        Mirror(self, children: ["response": description, "headers": headers])
    }

    var bodyDescription: String {
        switch contents.body {
        case .data(let data): "\(data.count) bytes"
        case .stream: "a stream"
        case .file(let file): "a file at \(DisplayText.line(file.path))"
        }
    }
}

extension HTTPResponse {
    /// Decodes the body from JSON.
    ///
    /// ```swift
    /// let user = try await chain.load(request).get().decode(User.self)
    /// ```
    ///
    /// - Throws: ``HTTPError`` with the code ``HTTPError/Code/cannotDecode``, this response, and the decoder's error.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self,
        using decoder: JSONDecoder = JSONDecoder()
    ) throws(HTTPError) -> T {
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw HTTPError(.cannotDecode, request: request, response: self, underlying: error)
        }
    }
}
