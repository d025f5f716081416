public import DeferredCore

extension Task {
    /// Asks the task to stop, and those it was derived from.
    ///
    /// The first call before the end calls the cancellation handlers, newest first, before it returns. A derived task
    /// whose closure has not begun fails with `CancellationError`, and the closure never runs; otherwise whoever does the
    /// work decides how the task ends. After the end, nothing happens.
    ///
    /// No lock is held while handlers run. Where handlers cancel tasks whose handlers cancel tasks, those more than 32 levels
    /// deep are called before the outermost call returns.
    public func cancel() {
        control?.cancel()
    }

    /// Calls `body` when the task is cancelled before its end: once, on the thread that cancels, the newest handler first.
    ///
    /// For what belongs to the work and has to stop with it: a timer, a child process, a lock file. If the task is
    /// cancelled already, `body` is called now, before this returns; after the end, never.
    ///
    /// - Parameter body: Kept until the task ends, until it is taken back, or until nobody is left who could cancel.
    /// - Returns: What takes the handler back.
    /// - Complexity: O(1), and taking back amortised so.
    @discardableResult
    public func uponCancel(execute body: @escaping @Sendable () -> Void) -> Registration {
        (control?.token() ?? .none).register(body)
    }

    /// Whether the task was cancelled before it ended. It may still have succeeded.
    public var isCancelled: Bool {
        guard let control else { return false }
        // What this thread has put off may be what cancels it.
        if !control.isCancelled, Trampoline.isBehind { Trampoline.catchUp { control.isCancelled } }
        return control.isCancelled
    }
}
