internal import Foundation

/// An error of your own that can stand for a cancellation.
///
/// Conform an error that stands for a cancellation, and ``Swift/Error/isCancellation`` is true for it: `retry` does not
/// try again after it, and user interfaces need not show it.
///
/// ```swift
/// struct SheetDismissed: CancellationIndicating {}
/// ```
///
/// If only some values of the error stand for a cancellation, implement ``indicatesCancellation``.
public protocol CancellationIndicating: Error {
    /// A Boolean value that indicates whether this value stands for a cancellation rather than a failure. True by
    /// default.
    var indicatesCancellation: Bool { get }
}

extension CancellationIndicating {
    /// Always true: every value of the error stands for a cancellation.
    public var indicatesCancellation: Bool { true }
}

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
