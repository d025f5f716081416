public import DeferredCore

extension HTTPTask {
    /// Calls `handler` when the task is cancelled before its completion: once, on the thread that cancels, the newest
    /// handler first, and the older ones too if a newer one completes the task. If the task is cancelled already, `handler`
    /// is called now. A handler that is added after the completion is never called.
    ///
    /// A task that was passed on with another request, as by ``ApplyEnvironment``, is also cancelled when an earlier loader
    /// completes the one that it was passed on for.
    ///
    /// For the loader that holds the task: stop the work, and complete the task when that has happened.
    ///
    /// - Parameter handler: Kept until the completion, or until its registration is cancelled. It should refer to the
    ///   task weakly: a task that is retained by its own handler can't detect that a loader has released it.
    /// - Returns: A registration that removes the handler. Cancel it when passing the task on.
    @discardableResult
    public func addCancellationHandler(_ handler: @escaping @Sendable () -> Void) -> Registration {
        execution.addCancellationHandler(handler)
    }

    /// Calls `handler` with the result, once, on the thread that completes the task, the oldest handler first; now if
    /// the task is complete.
    ///
    /// The same as ``upon(_:execute:)`` with `.immediate`.
    ///
    /// - Parameter handler: Kept until it has been called, or until its registration is cancelled.
    /// - Returns: A registration that removes the handler.
    @discardableResult
    public func addCompletionHandler(_ handler: @escaping @Sendable (HTTPResult) -> Void) -> Registration {
        execution.completion.upon(.immediate, handler)
    }

    /// Calls `stop` when the task is cancelled, and when it is complete, for an earlier loader may complete it.
    func whenUnneeded(_ stop: @escaping @Sendable () -> Void) {
        _ = execution.addCancellationHandler(stop)
        execution.whenEnded { _ in stop() }
    }

    /// Calls `body` with the result, once. See ``DeferredCore/FutureProtocol/upon(_:execute:)``.
    @discardableResult
    public func upon(
        _ executor: some Executor,
        execute body: @escaping @Sendable (HTTPResult) -> Void
    ) -> Registration {
        execution.completion.upon(executor, body)
    }

    /// Returns the result, or `nil` if there is none yet.
    ///
    /// - Complexity: O(1).
    public func peek() -> HTTPResult? { execution.completion.look() }

    /// The result as a plain future, which can't be cancelled.
    public var future: Future<HTTPResult> { Future(execution.completion) }
}
