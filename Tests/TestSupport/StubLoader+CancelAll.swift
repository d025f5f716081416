internal import DeferredCore
internal import DeferredHTTP
package import DeferredTesting

extension StubLoader {
    /// Cancels the requests in flight, and those that come when they have left: a stub and its requests keep each other.
    package func cancelAll() {
        while let task = tasksInFlight.first(where: { !$0.isCancelled }) { task.cancel() }
    }
}
