internal import Foundation

extension Error {
    /// Whether this error says that somebody cancelled, rather than that something went wrong.
    ///
    /// True for `CancellationError`, `URLError.cancelled` and `CocoaError.userCancelled`.
    public var isCancellation: Bool {
        if self is CancellationError { return true }
        // By domain, since URLError lives in FoundationNetworking on Linux, which this module leaves alone.
        let error = self as NSError
        return switch error.domain {
        case NSURLErrorDomain: error.code == NSURLErrorCancelled
        case NSCocoaErrorDomain: error.code == CocoaError.Code.userCancelled.rawValue
        default: false
        }
    }
}
