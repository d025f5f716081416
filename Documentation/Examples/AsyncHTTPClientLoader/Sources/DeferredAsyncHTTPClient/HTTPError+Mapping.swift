import AsyncHTTPClient
import Deferred
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension HTTPError.Code {
    /// What an error of a transfer means to a chain.
    init(_ error: any Error) {
        switch error {
        case is URLClientError, is RequestBodyFailure: self = .invalidRequest
        case is CancellationError: self = .cancelled
        case is TimeoutError: self = .timedOut
        case is NIOTooManyBytesError: self = .bodyTooLarge
        case is NIOConnectionError: self = .cannotConnect
        case NIOSSLError.uncleanShutdown: self = .connectionLost
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = .insecureConnection
        case HTTPParserError.invalidEOFState: self = .connectionLost
        case is HTTPParserError: self = .invalidResponse
        case let error as IOError where Self.isUnreachable(error.errnoCode): self = .cannotConnect
        case is IOError, is ChannelError: self = .connectionLost
        case let error as HTTPClientError: self.init(error)
        default: self = .unknown
        }
    }

    private static func isUnreachable(_ number: Int32) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL].contains(number)
    }

    private init(_ error: HTTPClientError) {
        switch error {
        case .cancelled, .requestStreamCancelled:
            self = .cancelled
        case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout,
            .socksHandshakeTimeout, .httpProxyHandshakeTimeout, .getConnectionFromPoolTimeout:
            self = .timedOut
        case .remoteConnectionClosed, .uncleanShutdown:
            self = .connectionLost
        case .redirectLimitReached, .redirectCycleDetected:
            self = .tooManyRedirects
        case .alreadyShutdown:
            self = .shutDown
        case .invalidProxyResponse, .proxyAuthenticationRequired, .invalidProxyConfiguration:
            self = .cannotConnect
        case .invalidURL, .emptyHost, .emptyScheme, .bodyLengthMismatch, .traceRequestWithBody:
            self = .invalidRequest
        default:
            self = .unknown
        }
    }
}
