public import DeferredTask

/// Why there is no response, or none that will do. It always carries the request.
///
/// ```swift
/// switch result {
/// case .failure(let error) where error.code == .cancelled: break
/// case .failure(let error): log("\(error)")  // GET https://host/path: timed out (URLError -1001)
/// case .success(let response): show(response)
/// }
/// ```
///
/// Descriptions show no credentials: neither those in headers, nor users and passwords in URLs, nor query items that
/// look like secrets.
///
/// Copies share their contents, so that handing an error on costs one reference.
public struct HTTPError: Error, Sendable {
    private let contents: Contents

    /// What went wrong.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// Somebody cancelled.
        case cancelled

        /// The request can't be sent; ``HTTPError/underlying`` says why. Nothing was sent.
        case invalidRequest

        /// There is no connection: no such host, nobody listens, no network, or the chain has no terminal loader.
        case cannotConnect

        /// The connection broke off, or the body was cut short.
        case connectionLost

        /// TLS failed.
        case insecureConnection

        /// It took longer than it may.
        case timedOut

        /// What came is not HTTP.
        case invalidResponse

        /// More redirects than are followed.
        case tooManyRedirects

        /// The response's body is larger than it may be.
        case bodyTooLarge

        /// The response has a status that ``Validate`` doesn't accept.
        case unacceptableStatus

        /// The response's body is not what it was to be decoded as.
        case cannotDecode

        /// No credential could be had.
        case authenticationFailed

        /// The request came while the chain was being reset.
        case resetInProgress

        /// The terminal loader was shut down.
        case shutDown

        /// A loader let go of the task without completing it.
        case abandoned

        /// Something else; see ``HTTPError/underlying``.
        case unknown
    }

    /// What went wrong.
    public var code: Code { contents.code }

    /// The request as the loader knew it that reports the error.
    public var request: HTTPRequest { contents.request }

    /// The response, where there was one.
    public var response: HTTPResponse? { contents.response }

    /// The cause, where there is one.
    public var underlying: (any Error)? { contents.underlying }

    /// Creates an error.
    public init(
        _ code: Code,
        request: HTTPRequest,
        response: HTTPResponse? = nil,
        underlying: (any Error)? = nil
    ) {
        contents = Contents(code, request, response, underlying)
    }

    private final class Contents: Sendable {
        let code: Code
        let request: HTTPRequest
        let response: HTTPResponse?
        let underlying: (any Error)?

        init(_ code: Code, _ request: HTTPRequest, _ response: HTTPResponse?, _ underlying: (any Error)?) {
            self.code = code
            self.request = request
            self.response = response
            self.underlying = underlying
        }
    }
}

extension HTTPError: CancellationIndicating {
    /// Whether the request was cancelled.
    public var indicatesCancellation: Bool { code == .cancelled }
}
