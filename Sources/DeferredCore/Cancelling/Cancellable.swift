/// An operation that can be asked to stop.
///
/// Cancelling is a request, not an outcome: the operation decides how it ends. Cancelling twice, or after the end, does
/// nothing, and cancelling is safe from any thread.
public protocol Cancellable: Sendable {
    /// Asks the operation to stop. Idempotent; returns without waiting for the end.
    func cancel()
}
