internal import Foundation

extension Error {
    /// A Boolean value that indicates whether this error stands for a cancellation rather than a failure.
    ///
    /// True for `CancellationError`, `URLError.cancelled`, `CocoaError.userCancelled`, an `HTTPError` with this code,
    /// and any ``CancellationIndicating`` error that indicates a cancellation.
    public var isCancellation: Bool {
        if self is CancellationError { return true }
        if let error = self as? any CancellationIndicating { return error.indicatesCancellation }
        // By domain, since on Linux URLError is declared in FoundationNetworking, which this module does not import.
        let error = self as NSError
        return switch error.domain {
        case NSURLErrorDomain: error.code == NSURLErrorCancelled
        case NSCocoaErrorDomain: error.code == CocoaError.Code.userCancelled.rawValue
        default: false
        }
    }
}
