#if os(Linux)
import CLibcurl
import Foundation
import FoundationNetworking

/// Maps libcurl's error codes to Foundation's.
enum LibcurlFailure {
    /// - Parameter text: libcurl's description of this failure; may be empty.
    static func error(_ code: Int32, text: String, url: URL) -> URLError {
        let description = text.isEmpty ? String(cString: libcurl_strerror(code)) : text
        return URLError(urlErrorCode(code, description), failing: url, description: description)
    }

    private static func urlErrorCode(_ code: Int32, _ text: String) -> URLError.Code {
        if let refusal = LibcurlTexts.refusalCode(text) { return refusal }
        return switch Int(code) {
        case CURLE_URL_MALFORMAT: .badURL
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotFindHost
        case CURLE_COULDNT_CONNECT, CURLE_PROXY: .cannotConnectToHost
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2_STREAM: .networkConnectionLost
        // Also the code for malformed chunks.
        case CURLE_RECV_ERROR: LibcurlTexts.isMalformed(text) ? .badServerResponse : .networkConnectionLost
        // Also the code for a connection that ends during the handshake.
        case CURLE_SSL_CONNECT_ERROR: LibcurlTexts.isLost(text) ? .networkConnectionLost : .secureConnectionFailed
        case CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE: .secureConnectionFailed
        case CURLE_SSL_CERTPROBLEM: .clientCertificateRejected
        case CURLE_SSL_CLIENTCERT: .clientCertificateRequired
        case CURLE_PEER_FAILED_VERIFICATION: LibcurlTexts.certificateCode(text) ?? .serverCertificateUntrusted
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS: .serverCertificateUntrusted
        // Requests are checked before they are sent, so it is the response that isn't supported.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_BAD_CONTENT_ENCODING,
            CURLE_BAD_FUNCTION_ARGUMENT, CURLE_WRITE_ERROR:
            .badServerResponse
        default: .unknown
        }
    }
}
#endif
