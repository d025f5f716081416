#if os(Linux)
import CLibcurl
import Foundation
import FoundationNetworking

/// Maps libcurl's error codes to Foundation's.
enum LibcurlFailure {
    /// The facts about a failure.
    struct Context {
        /// libcurl's description; may be empty.
        var text = ""

        /// The system's reason why there is no connection, if it gave one.
        var cause: POSIXErrorCode?

        /// The status with which a proxy refused to connect.
        var proxyRefusal: Int?

        /// True if the TLS handshake with a proxy has begun and not succeeded.
        var isInProxyHandshake = false

        /// The address of the connection.
        var address = ""
    }

    /// - Parameter socket: The path of the Unix domain socket that takes the place of hosts, if any.
    static func error(_ code: Int32, _ context: Context, socket: String?, url: URL) -> URLError {
        if let status = context.proxyRefusal {
            let description = "The proxy \(context.address) refused to connect to the host, with status \(status)"
            return URLError(
                .cannotConnectToHost,
                failing: url,
                description: description,
                underlying: FailureCause.refusedByProxy(status: status)
            )
        }
        if code == CURLE_COULDNT_CONNECT, let cause = context.cause {
            if let description = description(of: cause, socket: socket) {
                return URLError(
                    .cannotConnectToHost,
                    failing: url,
                    description: description,
                    underlying: POSIXError(cause)
                )
            }
        }
        // A session that has ended, of which libcurl doesn't say why.
        if code == CURLE_HTTP2, context.text.isEmpty {
            let description = "The connection of HTTP/2 ended before the response"
            return URLError(.networkConnectionLost, failing: url, description: description)
        }
        let text = context.text.isEmpty ? String(cString: libcurl_strerror(code)) : LibcurlTexts.redacted(context.text)
        let isOfProxy = tlsFailures.contains(Int(code)) && (context.isInProxyHandshake || url.scheme == "http")
        let description =
            isOfProxy ? "No TLS with the proxy \(context.address): \(text); see proxyTLS" : text
        return URLError(urlErrorCode(code, text), failing: url, description: description)
    }

    private static let tlsFailures: Set<Int> = [
        CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
    ]

    /// The error of a name without addresses.
    static func error(_ hop: LibcurlHop, _ failure: LookUpFailure, url: URL) -> URLError {
        let description = "Could not resolve \(hop.isProxy ? "proxy" : "host"): \(hop.name) (\(failure.reason))"
        return URLError(.cannotFindHost, failing: url, description: description)
    }

    /// The error of a name none of whose addresses could be connected to.
    static func error(_ hop: LibcurlHop, _ cause: POSIXErrorCode, url: URL) -> URLError {
        let text = "Failed to connect to \(hop.name) port \(hop.port): \(String(cString: strerror(cause.rawValue)))"
        let description = description(of: cause, socket: nil) ?? text
        return URLError(.cannotConnectToHost, failing: url, description: description, underlying: POSIXError(cause))
    }

    /// Returns a description of the cause, if it says more than libcurl's.
    private static func description(of cause: POSIXErrorCode, socket: String?) -> String? {
        let reason = String(cString: strerror(cause.rawValue))
        if cause == .EMFILE || cause == .ENFILE {
            let whose = cause == .EMFILE ? "process (see ulimit -n)" : "system (see fs.file-max)"
            return "No descriptor is left for a connection: \(reason). Raise the limit of the \(whose), or lower "
                + "maximumConnectionsPerHost"
        }
        return socket.map { "Cannot connect to the Unix socket \(DisplayText.quoted($0)): \(reason)" }
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
            CURLE_BAD_FUNCTION_ARGUMENT, CURLE_WRITE_ERROR, CURLE_TOO_LARGE:
            .badServerResponse
        default: .unknown
        }
    }
}
#endif
