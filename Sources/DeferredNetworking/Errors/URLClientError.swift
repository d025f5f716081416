public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A failure that the library itself reports, for which `URLError` has no suitable code.
///
/// Failures of the network, and cancellation, are `URLError`s and carry the failing URL, without its user and its password.
/// It has its query, which is shown where such an error is printed: if queries contain secrets, log `localizedDescription`.
///
/// ```swift
/// do {
///     show(try await client.begin(url).get())
/// } catch let error as URLClientError {
///     if case .unacceptableStatus(404, _) = error.code { showNothing(at: error.url) }
/// }
/// ```
///
/// Each description is one line that names the offending value, the remedy, and the URL. It never contains the values
/// of `Authorization` and `Cookie` headers or credentials in URLs. Two errors are equal when their codes are equal,
/// whatever their requests.
public struct URLClientError: Error, Sendable {
    /// The kind of a failure.
    public enum Code: Sendable, Equatable {
        /// The platform would reject or misread the request, or crash on it; nothing was sent.
        case invalidRequest(reason: String)

        /// The body exceeded the limit, in bytes; the transfer was cancelled.
        case bodyTooLarge(limit: Int64)

        /// A line of a body that is read as lines exceeded the limit, in bytes.
        case lineTooLong(limit: Int)

        /// The operation doesn't accept the response's status. `body` holds at most its first 64 KiB, and less if the connection
        /// ended within it.
        case unacceptableStatus(code: Int, body: Data)

        /// The whole operation, retries and redirects included, took longer than its deadline.
        case deadlineExceeded

        /// The client was shut down before the operation ended, or before it began.
        case shutDown

        /// The connection ended after `received` bytes of a body whose announced length was `expected` bytes.
        case truncatedBody(received: Int64, expected: Int64)

        /// The engine isn't available, or doesn't support a setting of the configuration; nothing was sent.
        case engineUnavailable(reason: String)
    }

    /// The kind of this failure.
    public let code: Code

    /// The URL of the request, or the one that it had been redirected to; `nil` if it had none.
    public let url: URL?

    /// The head of the refused response; `nil` if the error isn't about a response.
    public let head: ResponseHead?

    /// Creates an error, for example in a test double of a client.
    public init(_ code: Code, url: URL? = nil, head: ResponseHead? = nil) {
        self.code = code
        self.url = url
        self.head = head
    }

    /// Creates an error about a response.
    init(_ code: Code, of head: ResponseHead) {
        self.init(code, url: head.url, head: head)
    }

    /// Returns this error with `url`, unless it has a URL already.
    func about(_ url: URL?) -> URLClientError { URLClientError(code, url: self.url ?? url, head: head) }
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

    /// See ``Code/lineTooLong(limit:)``.
    public static func lineTooLong(limit: Int) -> Self { Self(.lineTooLong(limit: limit)) }

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
    /// One line: the problem, the offending value, the remedy, and the URL without credentials.
    public var description: String {
        let location = head.flatMap { RedirectRules.shownLocation($0.status.code, $0.value(of: "Location")) }
        return code.description + (location.map { "; its Location \($0) was not followed" } ?? "")
            + (url.map { ": " + DisplayText.quoted($0) } ?? "")
    }
}

extension URLClientError.Code: CustomStringConvertible {
    /// One line: the problem, the offending value, and the remedy.
    public var description: String {
        switch self {
        case .invalidRequest(let reason):
            "The request cannot be sent: \(reason)"
        case .bodyTooLarge(let limit):
            "The response body is larger than \(limit) bytes; raise the limit, or download it into a file"
        case .lineTooLong(let limit):
            "A line of the response body is longer than \(limit) bytes; raise the limit with `lines(upTo:)`"
        case .unacceptableStatus(let code, let body):
            "The server answered with status \(code) and a body of \(body.count) bytes; accept this status in `validation`, or read the body"
        case .deadlineExceeded:
            "The operation did not end before its deadline; allow it more time, or retry later"
        case .shutDown:
            "The client is shut down; use a client that is still running"
        case .truncatedBody(let received, let expected):
            "The body ended after \(received) of \(expected) bytes; retry, or resume the download"
        case .engineUnavailable(let reason):
            "The client cannot start its engine: \(reason)"
        }
    }
}

extension URLClientError: CustomReflectable {
    /// The description alone: the URL may have a password.
    public var customMirror: Mirror { Mirror(self, children: ["error": description]) }
}

extension URLClientError: LocalizedError {
    /// The same line as ``description``.
    public var errorDescription: String? { description }
}

extension Error {
    /// Returns this error with `url`, if it is of a kind that has a URL and has none yet.
    func naming(_ url: URL) -> any Error {
        switch self {
        case let error as URLClientError: error.about(url)
        case let error as URLError where error.failingURL == nil:
            URLError(error.code, failing: url, keeping: error.userInfo)
        default: self
        }
    }
}
