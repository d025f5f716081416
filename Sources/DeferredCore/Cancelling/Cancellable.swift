/// Something that can be asked to stop.
///
/// Cancelling is a request, not an outcome: what was asked decides how it ends. Asking twice, or after the end, does
/// nothing, and asking is safe from any thread.
public protocol Cancellable: Sendable {
    /// Asks this to stop. Idempotent; returns without waiting for the end.
    func cancel()
}
