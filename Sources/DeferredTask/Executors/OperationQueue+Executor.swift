public import DeferredCore
public import Foundation

/// Runs each closure as a separate operation. With a `maxConcurrentOperationCount` of 1, closures run in order.
///
/// While the queue is suspended, closures wait. `cancelAllOperations()` discards operations that have not begun, and
/// with them the handlers and the results that wait for them: cancel the task instead.
extension OperationQueue: Executor {
    /// Adds an operation that runs `body`.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        addOperation(body)
    }
}
