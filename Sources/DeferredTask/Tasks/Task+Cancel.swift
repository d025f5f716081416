public import DeferredCore

extension Task {
    /// Asks the task to stop, and the tasks it was derived from.
    ///
    /// The first call before the end calls the cancellation handlers, newest first, before it returns. A derived task
    /// whose closure has not begun fails with `CancellationError`, and the closure never runs; otherwise whoever does
    /// the work decides how the task ends. After the end, nothing happens.
    ///
    /// No lock is held while handlers run. Where handlers cancel tasks whose handlers cancel tasks, the handlers more
    /// than 32 levels deep are called before the outermost call returns.
    public func cancel() {
        handle?.cancel()
    }

    /// Calls `body` when the task is cancelled before its end: once, on the thread that cancels, the newest handler
    /// first.
    ///
    /// For resources that belong to the work and have to stop with it: a timer, a child process, a lock file. If the
    /// task is cancelled already, `body` is called now, before this returns; after the end, never.
    ///
    /// A handler that captures the task, or one that it was derived from, keeps both, and itself, until the task ends: for ever,
    /// if its producer never ends it. `[weak]` avoids that where an object holds the task:
    /// `task.uponCancel { [weak upload] in upload?.stop() }`. Of the task itself, a handler needs nothing: what it was derived
    /// from is cancelled anyway.
    ///
    /// - Parameter body: Kept until the task ends, until the handler is taken back, or until nobody is left who could
    ///   cancel: for the result of `map`, `mapError`, `recover` or `always`, who holds the task it was derived from, or
    ///   another one derived from that.
    /// - Returns: A registration that takes the handler back.
    /// - Complexity: O(1); taking back is amortised O(1).
    @discardableResult
    public func uponCancel(execute body: @escaping @Sendable () -> Void) -> Registration {
        (handle?.token() ?? .none).register(body)
    }

    /// A Boolean value that indicates whether the task was cancelled before it ended. It may still have succeeded.
    ///
    /// Runs no other code, and so may be read where a lock is held.
    public var isCancelled: Bool {
        plainCount == 0 ? control?.isCancelled ?? false : TaskHandle.isCancelled(storage)
    }
}
