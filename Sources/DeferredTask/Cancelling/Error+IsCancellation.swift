internal import Foundation

extension Error {
    /// Whether this error says that somebody cancelled, rather than that something went wrong.
    ///
    /// True for `CancellationError`, `URLError.cancelled`, `CocoaError.userCancelled`, an `HTTPError` with this code,
    /// and any ``CancellationIndicating`` error that says so.
    public var isCancellation: Bool {
        if self is CancellationError { return true }
        if let error = self as? any CancellationIndicating { return error.indicatesCancellation }
        // By domain, since URLError lives in FoundationNetworking on Linux, which this module leaves alone.
        let error = self as NSError
        return switch error.domain {
        case NSURLErrorDomain: error.code == NSURLErrorCancelled
        case NSCocoaErrorDomain: error.code == CocoaError.Code.userCancelled.rawValue
        default: false
        }
    }
}
