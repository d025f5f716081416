public import Foundation

/// The response to a request, with its whole body.
public struct HTTPResponse: Sendable {
    /// What was sent: the request with what the loaders made of it.
    public let request: HTTPRequest

    /// The status. Any of them is a response, unless ``Validate`` is in the chain.
    public let status: HTTPStatus

    /// The header fields.
    ///
    /// URLSession keeps neither their order nor several of one name: over ``URLSessionLoader`` they are sorted by name, and
    /// those of one name are joined with commas.
    public let headers: HTTPHeaders

    /// The body.
    public let body: Data

    /// Where the response came from, after redirects; `nil` if the terminal loader doesn't tell.
    public let url: URL?

    /// Creates a response, for a terminal loader of one's own.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = [:],
        body: Data = Data(),
        url: URL? = nil
    ) {
        self.request = request
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    /// The body as UTF-8 text; what isn't UTF-8 is replaced by `U+FFFD`.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

/// How a request ends.
public typealias HTTPResult = Result<HTTPResponse, HTTPError>

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The request, the status and the length of the body, without credentials.
    public var description: String { "\(request): \(status), \(body.count) bytes" }

    /// The status, the headers and the length of the body, without credentials.
    public var customMirror: Mirror {
        Mirror(self, children: ["response": description, "headers": headers])
    }
}
