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

    /// 201: the request has made something new.
    public static let created: Self = 201

    /// 204: the request has succeeded, and there is no body.
    public static let noContent: Self = 204

    /// 304: what the sender has is up to date.
    public static let notModified: Self = 304

    /// 400: the server takes the request for malformed.
    public static let badRequest: Self = 400

    /// 401: a credential is missing, or was refused.
    public static let unauthorized: Self = 401

    /// 403: the server has understood, and refuses.
    public static let forbidden: Self = 403

    /// 404: there is nothing at this URL.
    public static let notFound: Self = 404

    /// 409: the request does not fit the state of what it names.
    public static let conflict: Self = 409

    /// 429: the sender is to slow down: RFC 6585.
    public static let tooManyRequests: Self = 429

    /// 500: something went wrong in the server.
    public static let internalServerError: Self = 500

    /// 503: the server cannot answer for the moment.
    public static let serviceUnavailable: Self = 503

    /// 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(code) }

    /// 300 to 399.
    public var isRedirection: Bool { (300..<400).contains(code) }

    /// 400 to 499.
    public var isClientError: Bool { (400..<500).contains(code) }

    /// 500 to 599.
    public var isServerError: Bool { (500..<600).contains(code) }

    /// The number and its usual phrase, such as `404 Not Found`.
    public var description: String { reason.map { "\(code) \($0)" } ?? "\(code)" }
}
