import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// An error with this code about `url`, keeping what is known of the cause.
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
