public import Foundation

/// A failure that the library itself reports, where no `URLError` code says what went wrong.
///
/// Failures of the network, and cancellation, are `URLError`s and carry the failing URL.
///
/// Each description is one line that names the offending value and what to do about it. Values of `Authorization` and
/// `Cookie` headers, and passwords inside URLs, never appear in one.
public enum URLClientError: Error, Sendable, Equatable {
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
}

extension URLClientError: CustomStringConvertible {
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
        }
    }
}

extension URLClientError: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}
