public import DeferredCore
internal import DeferredTask

extension HTTPTask {
    /// Calls `handler` when the task is cancelled before its completion: once, on the thread that cancels, the newest
    /// first. If it is cancelled already, `handler` is called now; after the completion, never.
    ///
    /// For the loader that holds the task: stop the work, and complete the task when that has happened.
    ///
    /// - Parameter handler: Kept until the completion, or until it is taken back. It should refer to the task weakly: a task
    ///   that a handler of its own keeps is not found out when a loader lets go of it.
    /// - Returns: What takes the handler back. Do so when passing the task on.
    @discardableResult
    public func addCancellationHandler(_ handler: @escaping @Sendable () -> Void) -> Registration {
        isFilled ? Registration(nil) : token.register(handler)
    }

    /// Calls `handler` with the result, once, on the thread that completes the task, the oldest first; now if there is one.
    ///
    /// The same as ``upon(_:execute:)`` with `.immediate`.
    ///
    /// - Parameter handler: Kept until it was called or is taken back.
    /// - Returns: What takes the handler back.
    @discardableResult
    public func addCompletionHandler(_ handler: @escaping @Sendable (HTTPResult) -> Void) -> Registration {
        completion.upon(.immediate, handler)
    }

    /// Calls `body` with the result, once. See ``DeferredCore/FutureProtocol/upon(_:execute:)``.
    @discardableResult
    public func upon(
        _ executor: some Executor,
        execute body: @escaping @Sendable (HTTPResult) -> Void
    ) -> Registration {
        completion.upon(executor, body)
    }

    /// The result, or `nil` if there is none yet.
    ///
    /// - Complexity: O(1): one load.
    public func peek() -> HTTPResult? { completion.look() }

    /// The result as a plain future, which doesn't keep the task.
    public var future: Future<HTTPResult> { Future(completion) }
}
