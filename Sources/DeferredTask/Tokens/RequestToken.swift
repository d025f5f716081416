public import DeferredCore

/// An opaque handle that cancels something, for interfaces that report their result through a callback.
///
/// Return it where a ``Task`` would expose too much: the caller can cancel, and nothing else.
///
/// ```swift
/// func load(_ id: Int, completion: @escaping @Sendable (Image?) -> Void) -> RequestToken {
///     let task = images.begin(id)
///     task.upon(.main) { completion(try? $0.get()) }
///     return RequestToken(task)
/// }
/// ```
///
/// Dropping it does not cancel. It keeps its target until it has cancelled it.
public final class RequestToken: Cancellable {
    private let target: Lock<(any Cancellable)?>

    /// Creates a handle over `target`.
    public init(_ target: some Cancellable) {
        self.target = Lock(target)
    }

    /// Cancels the target, the first time.
    public func cancel() {
        target.withLock { $0.take() }?.cancel()
    }
}
