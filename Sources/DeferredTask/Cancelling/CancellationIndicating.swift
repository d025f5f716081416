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
    /// True: every value of the error stands for a cancellation.
    public var indicatesCancellation: Bool { true }
}
