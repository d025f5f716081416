internal import DeferredCore

extension HTTPTask {
    /// Passes this task to the next loader, unless it is cancelled: then it fails with ``HTTPError/Code/cancelled``,
    /// and `next` never sees it.
    ///
    /// - Parameter next: The next loader.
    public func pass(to next: any HTTPLoader) {
        if !failIfCancelled() { next.load(self) }
    }

    /// Passes another request for this task to the next loader: a changed one, or the same one again.
    ///
    /// The request is loaded with a separate task, which is cancelled with this one and reports its progress to this
    /// one. If this task is cancelled already, it fails with ``HTTPError/Code/cancelled``, and `next` never sees
    /// anything. If this task completes before the other one, the other one is cancelled.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - next: The next loader.
    ///   - completion: Called once with the result, after the completion handlers that were added further down the
    ///     chain. It has to complete this task, or to pass it on again. By default, this task completes with the
    ///     result.
    /// - Returns: The task that was passed on; `nil` if there is none, since this one is complete, or has just failed because
    ///   it was cancelled. `completion` isn't called then.
    @discardableResult
    public func pass(
        _ request: HTTPRequest,
        to next: any HTTPLoader,
        completion: (@Sendable (HTTPResult) -> Void)? = nil
    ) -> HTTPTask? {
        send(request, to: next, completion: completion).map { HTTPTask($0, isLoaders: false) }
    }

    /// Does the same as the public `pass` for loaders that don't need a task for the child.
    ///
    /// - Parameter endsCancelled: Whether a task that is cancelled is completed as such, as is right for a loader that
    ///   does nothing else with it.
    @discardableResult
    package func send(
        _ request: HTTPRequest,
        to next: any HTTPLoader,
        endsCancelled: Bool = true,
        completion: (@Sendable (HTTPResult) -> Void)? = nil
    ) -> HTTPExecution? {
        if endsCancelled ? failIfCancelled() : execution.isComplete || execution.isToStop { return nil }
        let child = HTTPExecution(request, childOf: self, completion)
        let task = HTTPTask(child, isLoaders: true)
        if execution.adopt(child) {
            next.load(task)
        } else {
            // The task was cancelled or completed meanwhile.
            child.cancel()
            child.fail(.cancelled)
        }
        return child
    }
}
