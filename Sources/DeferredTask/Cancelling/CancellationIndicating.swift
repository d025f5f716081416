/// An error of your own that may say that somebody cancelled.
///
/// Conform an error that stands for a cancellation, and ``Swift/Error/isCancellation`` is true of it: `retry` does not
/// try again after it, and nobody has to show it to a user.
///
/// ```swift
/// struct SheetDismissed: CancellationIndicating {}
/// ```
///
/// An error of which only some values do implements ``indicatesCancellation``.
public protocol CancellationIndicating: Error {
    /// Whether this value says that somebody cancelled, rather than that something went wrong. True by default.
    var indicatesCancellation: Bool { get }
}

extension CancellationIndicating {
    /// True: the error always says that somebody cancelled.
    public var indicatesCancellation: Bool { true }
}
