import DeferredNetworking
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, LocalizedError {
    /// One line: the request, what went wrong, the status, the `Location` of a redirect, the reason, and the cause.
    public var description: String {
        var text = "\(DisplayText.shortened(request.description)): \(code)"
        if let response {
            let location = RedirectRules.shownLocation(response.status.code, response.headers["Location"])
            text += ", status \(response.status)" + (location.map { " to " + $0 } ?? "")
        }
        let causes = [shownReason, underlying.map { Self.text(of: $0, in: response) }].compactMap(\.self)
        if !causes.isEmpty { text += " (\(causes.joined(separator: "; ")))" }
        return text
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// The same as ``description``, so that `dump` reveals no credentials.
    public var customMirror: Mirror { Mirror(self, children: ["error": description]) }

    /// Describes an error, without what looks like a secret; a `URLError` without its URL.
    private static func text(of error: any Error, in response: HTTPResponse?) -> String {
        switch error {
        case let error as URLError: "URLError \(error.errorCode)" + reason(error)
        case let error as URLClientError: error.description
        case let error as HTTPError: error.description
        case let error as any DisplayableError: error.description
        case let error as DecodingError: text(of: error, in: response)
        case let error as any LocalizedError where error.errorDescription != nil:
            foreign(error.errorDescription ?? "", error)
        case let error as any CustomStringConvertible & Error: foreign(error.description, error)
        default: String(reflecting: type(of: error))
        }
    }

    /// The reason in one line, also if it is a custom loader's.
    private var shownReason: String? { reason.map { DisplayText.line(Redaction.text($0)) } }

    private static func foreign(_ text: String, _ error: any Error) -> String { "\(type(of: error))" + appended(text) }

    /// Returns the reason in an error's user info. Foundation's own texts say no more than the code does.
    private static func reason(_ error: URLError) -> String {
        (error.userInfo[NSLocalizedDescriptionKey] as? String).map(appended) ?? ""
    }

    private static func appended(_ text: String) -> String {
        ": " + DisplayText.line(DisplayText.shortened(Redaction.text(text)))
    }
}

/// An error whose description holds no secrets, so that an ``HTTPError`` with this cause shows it.
package protocol DisplayableError: Error, CustomStringConvertible {}

extension HTTPError.Code: CustomStringConvertible {
    /// The kind of failure in words, such as `timed out`.
    public var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .invalidRequest: "invalid request"
        case .bodyAlreadySent: "body already sent"
        case .cannotConnect: "cannot connect"
        case .connectionLost: "connection lost"
        case .insecureConnection: "insecure connection"
        case .timedOut: "timed out"
        case .invalidResponse: "invalid response"
        case .foreignPage: "foreign page"
        case .tooManyRedirects: "too many redirects"
        case .bodyTooLarge: "body too large"
        case .unacceptableStatus: "unacceptable status"
        case .cannotDecode: "cannot decode the body"
        case .authenticationFailed: "authentication failed"
        case .resetInProgress: "the chain is being reset"
        case .shutDown: "shut down"
        case .abandoned: "a loader released the task without completing it or passing it on"
        case .unknown: "failed"
        }
    }
}
