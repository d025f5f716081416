import DeferredNetworking
import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPError {
    /// Creates an error from one of a `URLClient`.
    package init(_ error: any Error, request: HTTPRequest) {
        switch error {
        case let error as HTTPError:
            self = error
        case let error as URLError where error.code == .requestBodyStreamExhausted && request.body.isOneShot:
            self.init(.bodyAlreadySent, request: request, reason: HTTPBody.AlreadySent.reason, underlying: error)
        case let error as URLError:
            self.init(Code(error.code), request: request, underlying: error)
        case let error as URLClientError:
            self.init(Code(error), request: request, response: .init(error, request), underlying: error)
        case let error as HTTPBody.Failure where error.underlying is HTTPBody.AlreadySent:
            self.init(.bodyAlreadySent, request: request, reason: HTTPBody.AlreadySent.reason)
        case let error as HTTPBody.Failure:
            let cause = error.underlying
            self.init(cause.isCancellation ? .cancelled : .invalidRequest, request: request, underlying: cause)
        default:
            self.init(error.isCancellation ? .cancelled : .unknown, request: request, underlying: error)
        }
    }
}

extension HTTPResponse {
    /// Creates a response from the known parts of a response that the client itself refused.
    init?(_ error: URLClientError, _ request: HTTPRequest) {
        guard case .unacceptableStatus(let code, let body) = error.code else { return nil }
        self.init(
            request: request,
            status: HTTPStatus(code),
            headers: error.head?.headers ?? [:],
            body: body,
            url: error.head?.url
        )
    }
}

extension HTTPError.Code {
    fileprivate init(_ code: URLError.Code) {
        switch code {
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet: self = .cannotConnect
        case .networkConnectionLost, .requestBodyStreamExhausted: self = .connectionLost
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .insecureConnection
        case .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData:
            self = .invalidResponse
        case .httpTooManyRedirects: self = .tooManyRedirects
        case .badURL, .unsupportedURL: self = .invalidRequest
        default: self = .unknown
        }
    }

    fileprivate init(_ error: URLClientError) {
        switch error.code {
        case .invalidRequest: self = .invalidRequest
        case .bodyTooLarge, .lineTooLong: self = .bodyTooLarge
        case .unacceptableStatus: self = .unacceptableStatus
        case .deadlineExceeded: self = .timedOut
        case .shutDown: self = .shutDown
        case .truncatedBody: self = .connectionLost
        case .engineUnavailable: self = .cannotConnect
        }
    }
}
