import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// Creates an error about `url`, with the cause if it is known.
    init(_ code: Code, failing url: URL?, description: String? = nil, underlying: (any Error)? = nil) {
        var userInfo: [String: Any] = [:]
        if let url {
            userInfo[NSURLErrorFailingURLErrorKey] = url
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
