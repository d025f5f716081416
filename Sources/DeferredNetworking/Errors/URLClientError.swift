#if canImport(FoundationNetworking)
public import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A failure that the library itself reports, where no `URLError` code says what went wrong.
///
/// Failures of the network, and cancellation, are `URLError`s and carry the failing URL.
///
/// ```swift
/// do {
///     show(try await client.begin(url).get())
/// } catch let error as URLClientError {
///     if case .unacceptableStatus(404, _) = error.code { showNothing(at: error.url) }
/// }
/// ```
///
/// Each description is one line that names the offending value, what to do about it, and the URL. Values of `Authorization`
/// and `Cookie` headers, and credentials inside URLs, never appear in one. Two errors are equal when their codes are,
/// whatever requests they are about.
public struct URLClientError: Error, Sendable {
    /// What went wrong.
    public enum Code: Sendable, Equatable {
        /// The request would be refused, misread, or would stop the process; nothing was sent.
        case invalidRequest(reason: String)

        /// The body grew beyond the limit, counted in bytes; the transfer was cancelled.
        case bodyTooLarge(limit: Int64)

        /// The response's status is not one the operation accepts. `body` holds at most its first 64 KiB.
        case unacceptableStatus(code: Int, body: Data)

        /// The whole operation, retries and redirects included, took longer than its deadline.
        case deadlineExceeded

        /// The client was shut down before the operation ended, or before it began.
        case shutDown

        /// The connection ended after `received` bytes of a body that was announced as `expected` bytes long.
        case truncatedBody(received: Int64, expected: Int64)

        /// The configuration asks for an engine that isn't there, or for what its engine can't do; nothing was sent.
        case engineUnavailable(reason: String)
    }

    /// What went wrong.
    public let code: Code

    /// The URL that the request was for, or the one that it had been redirected to; `nil` if it had none.
    public private(set) var url: URL?

    /// The response that was refused, with its headers; `nil` where the error isn't about a response.
    public private(set) var response: HTTPURLResponse?

    /// Creates an error, as a double of a client in tests needs it.
    public init(_ code: Code, url: URL? = nil, response: HTTPURLResponse? = nil) {
        self.code = code
        self.url = url
        self.response = response
    }

    /// The same error, about this URL unless it is about one already.
    func about(_ url: URL?) -> URLClientError {
        var result = self
        result.url = self.url ?? url
        return result
    }
}

extension URLClientError: Equatable {
    /// Compares the codes.
    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }
}

extension URLClientError {
    /// See ``Code/invalidRequest(reason:)``.
    public static func invalidRequest(reason: String) -> Self { Self(.invalidRequest(reason: reason)) }

    /// See ``Code/bodyTooLarge(limit:)``.
    public static func bodyTooLarge(limit: Int64) -> Self { Self(.bodyTooLarge(limit: limit)) }

    /// See ``Code/unacceptableStatus(code:body:)``.
    public static func unacceptableStatus(code: Int, body: Data) -> Self {
        Self(.unacceptableStatus(code: code, body: body))
    }

    /// See ``Code/deadlineExceeded``.
    public static var deadlineExceeded: Self { Self(.deadlineExceeded) }

    /// See ``Code/shutDown``.
    public static var shutDown: Self { Self(.shutDown) }

    /// See ``Code/truncatedBody(received:expected:)``.
    public static func truncatedBody(received: Int64, expected: Int64) -> Self {
        Self(.truncatedBody(received: received, expected: expected))
    }

    /// See ``Code/engineUnavailable(reason:)``.
    public static func engineUnavailable(reason: String) -> Self { Self(.engineUnavailable(reason: reason)) }
}

extension URLClientError: CustomStringConvertible {
    /// One line: what was wrong, with what value, what to do about it, and the URL without credentials.
    public var description: String { code.description + (url.map { ": " + DisplayText.quoted($0) } ?? "") }
}

extension URLClientError.Code: CustomStringConvertible {
    /// One line: what was wrong, with what value, and what to do about it.
    public var description: String {
        switch self {
        case .invalidRequest(let reason):
            "The request cannot be sent: \(reason)"
        case .bodyTooLarge(let limit):
            "The response body is larger than \(limit) bytes; raise the limit, or download it into a file"
        case .unacceptableStatus(let code, let body):
            "The server answered with status \(code) and a body of \(body.count) bytes; accept this status, or see the body"
        case .deadlineExceeded:
            "The operation did not end before its deadline; allow it more time, or retry later"
        case .shutDown:
            "The client is shut down; begin the operation on a client that is running"
        case .truncatedBody(let received, let expected):
            "The body ended after \(received) of \(expected) bytes; retry, or resume the download"
        case .engineUnavailable(let reason):
            "The client has no engine for this: \(reason)"
        }
    }
}

extension URLClientError: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}

extension Error {
    /// The same error, about this URL if it is one that names none yet.
    func naming(_ url: URL) -> any Error {
        switch self {
        case let error as URLClientError: error.about(url)
        case let error as URLError where error.failingURL == nil:
            URLError(error.code, failing: url, keeping: error.userInfo)
        default: self
        }
    }
}
