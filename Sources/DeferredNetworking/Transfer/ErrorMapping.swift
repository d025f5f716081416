import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Maps the platform's errors to more specific codes, and adds the URL that failed.
enum ErrorMapping {
    /// The state of the exchange when the task completed.
    struct Context {
        var url: URL?
        var received: Int64 = 0
        var expected: Int64?
        var hasResponse = false
    }

    static func mapped(_ error: any Error, in context: Context) -> any Error {
        guard let error = error as? URLError else { return error }
        if error.code == .badURL, !context.hasResponse, let url = context.url { return CheckedRequest.refusal(of: url) }
        let text = error.localizedDescription
        if text.contains("transfer closed with") || wasClosed(error), let expected = context.expected,
            context.received < expected
        {
            return URLClientError.truncatedBody(received: context.received, expected: expected)
        }
        return URLError(
            code(for: error.code, text: text, hasResponse: context.hasResponse),
            failing: error.failingURL ?? context.url,
            description: text,
            underlying: error,
            keeping: error.userInfo
        )
    }

    /// Returns whether Darwin reports that the server closed the connection in good order: both that and a broken
    /// connection are `networkConnectionLost` there, but the latter's cause is in the system's domain, not in that of
    /// HTTP (4).
    private static func wasClosed(_ error: URLError) -> Bool {
        guard error.code == .networkConnectionLost else { return false }
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? NSError)?.userInfo ?? [:]
        return [error.userInfo, cause].contains { $0["_kCFStreamErrorDomainKey"] as? Int == 4 }
    }

    private static func code(for code: URLError.Code, text: String, hasResponse: Bool) -> URLError.Code {
        switch code {
        case .unknown where isLost(text), .badServerResponse where isLost(text),
            .secureConnectionFailed where isLost(text):
            .networkConnectionLost
        // Requests are checked before they are sent, so the unsupported part is the status line, not the URL.
        case .unsupportedURL, .badServerResponse:
            .badServerResponse
        // Darwin's codes for heads, chunks and codings that can't be read, and for heads without an end.
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .dataLengthExceedsMaximum:
            .badServerResponse
        // Darwin's code for a connection that was closed without a byte.
        case .zeroByteResource:
            .networkConnectionLost
        case .unknown:
            if let tls = tlsFailures.first(where: { text.contains($0.text) }) {
                tls.code
            } else if hasResponse || malformedResponses.contains(where: text.contains) {
                .badServerResponse
            } else {
                .unknown
            }
        default:
            code
        }
    }

    /// The texts by which libcurl describes TLS failures, the specific ones first.
    private static let tlsFailures: [(text: String, code: URLError.Code)] = [
        ("certificate has expired", .serverCertificateHasBadDate),
        ("certificate is not yet valid", .serverCertificateNotYetValid),
        ("SSL certificate problem", .serverCertificateUntrusted),
        ("SSL: no alternative certificate subject name", .serverCertificateUntrusted),
        ("SSL: certificate subject name", .serverCertificateUntrusted),
        ("SSL", .secureConnectionFailed),
        ("TLS", .secureConnectionFailed),
    ]

    /// Returns true if libcurl's text describes a connection that ended too early: during the handshake, before the
    /// response, inside its head, between chunks, or while sending the request. Foundation has no code for this.
    static func isLost(_ text: String) -> Bool {
        lostConnections.contains(where: text.contains)
    }

    private static let lostConnections = [
        "transfer closed with", "Empty reply", "Send failure", "Recv failure", "Connection died",
        // The peer closed the connection while OpenSSL was using it; the second text since OpenSSL 3.
        "SSL_ERROR_SYSCALL", "unexpected eof",
    ]

    /// The texts by which libcurl describes responses that it, or Foundation's header parser, can't read.
    private static let malformedResponses = [
        "Failed writing header", "Failed writing received data", "Too large response headers", "Out of memory",
        "Weird server reply", "Nul byte in header", "Header without colon",
        "Invalid Content-Length", "Illegal or missing hexadecimal", "Malformed encoding", "chunk",
        "Unsupported HTTP", "Received HTTP/0.9", "Unrecognized content encoding", "Error while processing content",
        "incorrect header check",
        // The text for a folded first header line, and for a header without a name.
        "A libcurl function was given a bad argument",
    ]
}
