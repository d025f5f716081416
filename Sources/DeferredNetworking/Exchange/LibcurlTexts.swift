import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tells failures apart by the texts with which libcurl describes them, where its codes, or Foundation's, do not.
enum LibcurlTexts {
    /// Returns the text without a user name and a password. libcurl quotes the URL of a proxy that it can't read.
    static func redacted(_ text: String) -> String {
        guard let quote = text.range(of: " '")?.upperBound else { return text }
        // A long text is cut off, perhaps inside the password.
        let isWhole = text[quote...].contains("'")
        return text[..<quote] + Redaction.proxy(isWhole ? String(text[quote...]) : text[quote...] + "@…")
    }

    /// Returns true if the text describes a connection that ended too early: during the handshake, before the response,
    /// inside its head, between chunks, or while sending the request. Foundation has no code for this.
    static func isLost(_ text: String) -> Bool { isCutOff(text) || lostConnections.contains(where: text.contains) }

    /// Returns true if the text describes a body that ended too early. libcurl has another text for that since 8.9, and hands
    /// on that of OpenSSL 3 where TLS ended without saying so.
    static func isCutOff(_ text: String) -> Bool {
        ["transfer closed with", "end of response with", "unexpected eof"].contains(where: text.contains)
    }

    private static let lostConnections = [
        "Empty reply", "Send failure", "Recv failure", "Connection died",
        // The peer closed the connection while OpenSSL was using it; the second text before libcurl 7.87.
        "SSL_ERROR_SYSCALL", "SSL_connect: Connection reset",
    ]

    /// Returns true if the text tells that a stream of HTTP/2 was reset, and no error of it.
    static func isReset(_ text: String) -> Bool { text.hasPrefix("HTTP/2 stream") && text.hasSuffix("was reset") }

    /// Returns what the server did, where libcurl's text describes what that did to libcurl; and other texts as they are.
    static func explained(_ text: String) -> String { explanations[text] ?? text }

    private static let explanations = [
        "Out of memory": longLine, "A value or data field grew larger than allowed": longLine,
        "A libcurl function was given a bad argument":
            "The response head has a field without a name, or begins with a folded line; the server has to send "
            + "\"Name: value\"",
        "Failed writing header":
            "Foundation can't read the response head, such as one without a reason phrase, or a field without a blank "
            + "after its colon; the engine over libcurl can",
        "Empty reply from server": "The connection ended before the first line of the response",
    ]

    private static let longLine =
        "The response head has a line of more than 100 KiB, the limit of libcurl; the server has to send shorter ones"

    /// Returns true if the text describes a response that libcurl, or Foundation's header parser, can't read.
    static func isMalformed(_ text: String) -> Bool {
        malformedResponses.contains { text.range(of: $0, options: .caseInsensitive) != nil }
    }

    private static let malformedResponses = [
        "Failed writing header", "Failed writing received data", "Too large response headers", "Out of memory",
        "Weird server reply", "Nul byte", "Header without colon", "Invalid Content-Length", "hexadecimal",
        "Malformed encoding", "chunk", "Unsupported HTTP", "Received HTTP/0.9", "Unrecognized content encoding",
        "Error while processing content", "incorrect header check", "CONNECT tunnel failed",
        // The same before libcurl 7.87.
        "from proxy after CONNECT",
        // The text for a folded first header line, and for a header without a name.
        "A libcurl function was given a bad argument",
    ]

    /// Returns the code for a server's certificate that is not accepted.
    static func certificateCode(_ text: String) -> URLError.Code? { code(text, in: certificateFailures) }

    private static let certificateFailures: [(text: String, code: URLError.Code)] = [
        ("has expired", .serverCertificateHasBadDate),
        ("not yet valid", .serverCertificateNotYetValid),
        ("SSL certificate problem", .serverCertificateUntrusted),
        ("SSL: no alternative certificate subject name", .serverCertificateUntrusted),
        ("SSL: certificate subject name", .serverCertificateUntrusted),
    ]

    /// Returns the code for any failure of TLS.
    static func tlsCode(_ text: String) -> URLError.Code? {
        certificateCode(text) ?? (text.contains("SSL") || text.contains("TLS") ? .secureConnectionFailed : nil)
    }

    /// Returns the code for the TLS alerts with which servers refuse a client's certificate: with TLS 1.3 they come in
    /// place of a response, and so are told by the text alone.
    static func refusalCode(_ text: String) -> URLError.Code? { code(text, in: refusals) }

    /// Returns the code for the number of such an alert: RFC 8446, section 6.2.
    static func refusalCode(alert: Int) -> URLError.Code? {
        switch alert {
        case 116: .clientCertificateRequired
        case 42...46, 48: .clientCertificateRejected
        default: nil
        }
    }

    private static let refusals: [(text: String, code: URLError.Code)] = [
        ("alert certificate required", .clientCertificateRequired), ("alert unknown ca", .clientCertificateRejected),
        ("alert bad certificate", .clientCertificateRejected), ("alert certificate ", .clientCertificateRejected),
        ("alert unsupported certificate", .clientCertificateRejected),
    ]

    /// Returns the code of the first entry whose text occurs.
    private static func code(_ text: String, in table: [(text: String, code: URLError.Code)]) -> URLError.Code? {
        table.first { text.contains($0.text) }?.code
    }
}
