import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gives errors of the platform the code that says what happened, and the URL they are about.
enum ErrorMapping {
    /// What was known when the task completed.
    struct Context {
        var url: URL?
        var received: Int64 = 0
        var expected: Int64?
        var hasResponse = false
    }

    static func mapped(_ error: any Error, in context: Context) -> any Error {
        guard let error = error as? URLError else { return error }
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

    /// Whether Darwin says that the server closed the connection in good order: both that and a broken connection are
    /// `networkConnectionLost` there, but the latter's cause is in the system's domain, not in that of HTTP (4).
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
        // Requests are checked before they are sent, so the URL is not what isn't supported: the status line is.
        case .unsupportedURL, .badServerResponse:
            .badServerResponse
        // Darwin's words for heads, chunks and codings that can't be read, and for heads without an end.
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .dataLengthExceedsMaximum:
            .badServerResponse
        // And for a connection that was closed without a byte.
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

    /// How libcurl describes failures of TLS, the specific ones first.
    private static let tlsFailures: [(text: String, code: URLError.Code)] = [
        ("certificate has expired", .serverCertificateHasBadDate),
        ("certificate is not yet valid", .serverCertificateNotYetValid),
        ("SSL certificate problem", .serverCertificateUntrusted),
        ("SSL: no alternative certificate subject name", .serverCertificateUntrusted),
        ("SSL: certificate subject name", .serverCertificateUntrusted),
        ("SSL", .secureConnectionFailed),
        ("TLS", .secureConnectionFailed),
    ]

    /// Whether libcurl says that the connection ended too early: inside the handshake, before the response, inside its
    /// head, between chunks, or under the request, which has no code of Foundation's.
    static func isLost(_ text: String) -> Bool {
        lostConnections.contains(where: text.contains)
    }

    private static let lostConnections = [
        "transfer closed with", "Empty reply", "Send failure", "Recv failure", "Connection died",
        // The end of the connection under OpenSSL's hands; the latter since its version 3.
        "SSL_ERROR_SYSCALL", "unexpected eof",
    ]

    /// How libcurl describes responses that it, or Foundation's header parser, cannot read.
    private static let malformedResponses = [
        "Failed writing header", "Failed writing received data", "Too large response headers", "Out of memory",
        "Weird server reply", "Nul byte in header", "Header without colon",
        "Invalid Content-Length", "Illegal or missing hexadecimal", "Malformed encoding", "chunk",
        "Unsupported HTTP", "Received HTTP/0.9", "Unrecognized content encoding", "Error while processing content",
        "incorrect header check",
        // What it says of a first header line that is folded, and of one without a name.
        "A libcurl function was given a bad argument",
    ]
}
