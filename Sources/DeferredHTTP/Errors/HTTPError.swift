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

    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The request was cancelled.
        case cancelled

        /// The request can't be sent; ``HTTPError/reason`` or ``HTTPError/underlying`` says why. Nothing was sent.
        case invalidRequest

        /// The request's body can be sent only once, and was. Make the request anew, with a new body.
        case bodyAlreadySent

        /// There is no connection: unknown host, connection refused, no network, or a chain that can't work, of which
        /// ``HTTPError/reason`` says why.
        case cannotConnect

        /// The connection broke off, or the body was cut short.
        case connectionLost

        /// TLS failed.
        case insecureConnection

        /// The request took longer than its time limit.
        case timedOut

        /// The server's answer is not HTTP, or not of the kind that was asked for.
        case invalidResponse

        /// The next page is at another origin; the link to it is in the response's
        /// ``HTTPResponse/links``.
        case foreignPage

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

    /// The kind of failure.
    public var code: Code { contents.values.code }

    /// The request in the form in which it reached the loader that reports the error.
    public var request: HTTPRequest { contents.values.request }

    /// The response, if there was one.
    public var response: HTTPResponse? { contents.values.response }

    /// A sentence about what was wrong, with what value, and what to do about it; `nil` if the code, the response or the
    /// underlying error says as much. Holds no secrets.
    public var reason: String? { contents.values.reason }

    /// The underlying error, if there is one.
    public var underlying: (any Error)? { contents.values.underlying }

    /// True if the chain can't work, so that no other attempt may succeed.
    var isOfInvalidChain: Bool { contents.values.isOfInvalidChain }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - request: The request that has failed.
    ///   - response: The response, if there was one.
    ///   - reason: A sentence for a log, without secrets: what was wrong, with what value, and what to do about it.
    ///   - underlying: The error that was the cause.
    public init(
        _ code: Code,
        request: HTTPRequest,
        response: HTTPResponse? = nil,
        reason: String? = nil,
        underlying: (any Error)? = nil
    ) {
        contents = Contents(
            Values(code: code, request: request, response: response, reason: reason, underlying: underlying)
        )
    }

    /// Creates the error of all requests of a chain that can't work.
    init(ofInvalidChain reason: String, request: HTTPRequest) {
        contents = Contents(
            Values(code: .cannotConnect, request: request, reason: reason, isOfInvalidChain: true)
        )
    }

    private struct Values: Sendable {
        let code: Code
        let request: HTTPRequest
        var response: HTTPResponse?
        var reason: String?
        var underlying: (any Error)?
        var isOfInvalidChain = false
    }

    private final class Contents: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }
}

extension HTTPError: CancellationIndicating {
    /// A Boolean value that indicates whether the request was cancelled.
    public var indicatesCancellation: Bool { code == .cancelled }
}
