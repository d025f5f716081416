import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Refuses requests that the platform would misread, send in an altered form, or trap on, before a task exists.
enum RequestCheck {
    /// `request` in the form in which it can be sent, or the reason why it can't be.
    static func normalised(_ request: TransferRequest) -> Result<TransferRequest, URLClientError> {
        do throws(URLClientError) {
            var result = request
            result.request.url = try checkedURL(request.url)
            try checkMethod(request.request.httpMethod)
            try checkHeaders(request.request.allHTTPHeaderFields ?? [:])
            try normaliseTimeout(of: &result.request)
            try checkBody(of: &result)
            return .success(result)
        } catch {
            return .failure(error)
        }
    }

    /// The same for a request that carries its own body.
    static func normalised(_ request: URLRequest) -> Result<URLRequest, URLClientError> {
        normalised(TransferRequest(request)).map(\.request)
    }

    private static func checkMethod(_ method: String?) throws(URLClientError) {
        guard let method, !HTTPToken.isValid(method) else { return }
        throw .invalidRequest(
            reason: "the method \(VisibleText.quoted(method)) is not a token; use letters only, such as \"POST\""
        )
    }

    private static func checkHeaders(_ headers: [String: String]) throws(URLClientError) {
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            guard HTTPToken.isValid(name) else {
                throw .invalidRequest(
                    reason: "the header name \(VisibleText.quoted(name)) is not a token; "
                        + "use letters, digits and hyphens, and put the value into the value"
                )
            }
            // The value itself may be a secret, so only its name is told.
            guard !value.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
                throw .invalidRequest(
                    reason: "the value of the header \(VisibleText.quoted(name)) contains CR, LF or NUL; remove them"
                )
            }
        }
    }

    private static func normaliseTimeout(of request: inout URLRequest) throws(URLClientError) {
        let timeout = request.timeoutInterval
        guard timeout.isFinite, timeout > 0 else {
            throw .invalidRequest(reason: "the time-out of \(timeout) s is not a positive, finite number of seconds")
        }
        let rounded = TimeoutRounding.rounded(timeout)
        // Writing an unchanged value would make the request's own default override the session's time-out.
        if rounded != timeout {
            request.timeoutInterval = rounded
        }
    }
}
