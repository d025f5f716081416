public import DeferredCore
public import Foundation

/// A queue runs each closure as an operation of its own. One whose `maxConcurrentOperationCount` is 1 keeps their order.
///
/// While the queue is suspended, closures wait. `cancelAllOperations()` throws away those that have not begun, and with
/// them the handlers and the results that wait for them: cancel the task instead.
extension OperationQueue: Executor {
    /// Adds an operation that runs `body`.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        addOperation(body)
    }
}
