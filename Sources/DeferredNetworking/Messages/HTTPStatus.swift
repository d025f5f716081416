/// The status of a response: RFC 9110, section 15.
///
/// ```swift
/// if response.status == .notFound || response.status.isServerError { … }
/// let teapot: HTTPStatus = 418
/// ```
public struct HTTPStatus: Sendable, Hashable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The number, such as 404.
    public let code: Int

    /// Creates a status from its number.
    public init(_ code: Int) {
        self.code = code
    }

    /// Creates a status from its number.
    public init(integerLiteral code: Int) {
        self.code = code
    }

    /// 200: the request has succeeded.
    public static let ok: Self = 200

    /// 201: the request has created a resource.
    public static let created: Self = 201

    /// 204: the request has succeeded, and there is no body.
    public static let noContent: Self = 204

    /// 304: the client's copy is up to date.
    public static let notModified: Self = 304

    /// 400: the server considers the request malformed.
    public static let badRequest: Self = 400

    /// 401: a credential is missing, or was refused.
    public static let unauthorized: Self = 401

    /// 403: the server has understood the request, and refuses it.
    public static let forbidden: Self = 403

    /// 404: there is nothing at this URL.
    public static let notFound: Self = 404

    /// 409: the request conflicts with the state of the resource.
    public static let conflict: Self = 409

    /// 429: the client has to slow down: RFC 6585.
    public static let tooManyRequests: Self = 429

    /// 500: the server failed.
    public static let internalServerError: Self = 500

    /// 503: the server cannot answer for the moment.
    public static let serviceUnavailable: Self = 503

    /// A Boolean value that indicates whether another head follows: the number is between 100 and 199, and not 101, after
    /// which a body comes.
    public var isInterim: Bool { (100..<200).contains(code) && code != 101 }

    /// A Boolean value that indicates whether the number is between 200 and 299.
    public var isSuccess: Bool { (200..<300).contains(code) }

    /// A Boolean value that indicates whether the number is between 300 and 399.
    public var isRedirection: Bool { (300..<400).contains(code) }

    /// A Boolean value that indicates whether the number is between 400 and 499.
    public var isClientError: Bool { (400..<500).contains(code) }

    /// A Boolean value that indicates whether the number is between 500 and 599.
    public var isServerError: Bool { (500..<600).contains(code) }

    /// The number and its usual phrase, such as `404 Not Found`.
    public var description: String { reason.map { "\(code) \($0)" } ?? "\(code)" }
}

extension HTTPStatus {
    private static let reasons = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        104: "Upload Resumption Supported",
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        412: "Precondition Failed", 413: "Content Too Large", 416: "Range Not Satisfiable",
        422: "Unprocessable Content", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]

    /// The usual reason phrase, such as `Not Found`; `nil` for a status that is not in the list.
    public var reason: String? { Self.reasons[code] }
}
