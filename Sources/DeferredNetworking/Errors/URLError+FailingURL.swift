import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// Creates an error with this code about `url`, keeping the known facts about the cause.
    ///
    /// The error has the URL without its user and its password: whoever prints an error prints its user info.
    ///
    /// - Parameter userInfo: The `userInfo` of the error that this one replaces, such as why there is no network, or
    ///   the server's certificates.
    init(
        _ code: Code,
        failing url: URL?,
        description: String? = nil,
        underlying: (any Error)? = nil,
        keeping userInfo: [String: Any] = [:]
    ) {
        var userInfo = userInfo
        if let url = url.map(Redaction.withoutUser) {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            // The name of the key has no other spelling that is not deprecated.
            userInfo["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        if let description {
            userInfo[NSLocalizedDescriptionKey] = description
        }
        if let underlying {
            userInfo[NSUnderlyingErrorKey] = underlying
        }
        self.init(code, userInfo: userInfo)
    }
}

extension URLError {
    /// The code, the description and the URL on one line, without credentials: `String(describing:)` would print all of
    /// the user info, including the URL with its query and the underlying error.
    package var summary: String {
        let text = (userInfo[NSLocalizedDescriptionKey] as? String).map { " " + DisplayText.quoted($0) } ?? ""
        return "URLError \(errorCode)\(text)" + (failingURL.map { ": " + DisplayText.quoted($0) } ?? "")
    }
}

/// A fact about a failed request for which Foundation has no code: the underlying error of one that has a code.
package enum FailureCause: Error, Equatable {
    /// The server said that it has not processed the request, and will not: RFC 9113, section 8.7.
    case notProcessed

    /// A proxy refused to connect to the host, with this status.
    case refusedByProxy(status: Int)

    /// Finds the cause of an error, or of one of its underlying errors.
    init?(of error: (any Error)?) {
        var next = error
        while let error = next {
            if let cause = error as? FailureCause {
                self = cause
                return
            }
            next = (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? any Error
        }
        return nil
    }
}
