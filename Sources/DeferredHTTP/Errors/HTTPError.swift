public import DeferredTask

/// A failure to get a response, or an acceptable one. It always carries the request.
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
        /// The request was cancelled.
        case cancelled

        /// The request can't be sent; ``HTTPError/underlying`` has the reason. Nothing was sent.
        case invalidRequest

        /// There is no connection: unknown host, connection refused, no network, or a chain without a terminal loader.
        case cannotConnect

        /// The connection broke off, or the body was cut short.
        case connectionLost

        /// TLS failed.
        case insecureConnection

        /// The request took longer than its time limit.
        case timedOut

        /// The server's answer is not HTTP.
        case invalidResponse

        /// There were more redirects than the client follows.
        case tooManyRedirects

        /// The response's body exceeds the size limit.
        case bodyTooLarge

        /// The response has a status that ``Validate`` doesn't accept.
        case unacceptableStatus

        /// The response's body could not be decoded as the expected type.
        case cannotDecode

        /// No credential could be obtained.
        case authenticationFailed

        /// The request arrived while the chain was being reset.
        case resetInProgress

        /// The terminal loader was shut down.
        case shutDown

        /// A loader released the task without completing it.
        case abandoned

        /// Any other failure; see ``HTTPError/underlying``.
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
    /// A Boolean value that indicates whether the request was cancelled.
    public var indicatesCancellation: Bool { code == .cancelled }
}
