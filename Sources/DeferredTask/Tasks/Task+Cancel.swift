extension Task {
    /// Asks the task to stop, and those it was derived from.
    ///
    /// The first call before the end calls the cancellation handlers, newest first, before it returns. A derived task
    /// whose closure has not begun fails with `CancellationError`, and the closure never runs; otherwise whoever does the
    /// work decides how the task ends. After the end, nothing happens.
    ///
    /// No lock is held while handlers run.
    public func cancel() {
        control?.cancel()
    }

    /// Whether the task was cancelled before it ended. It may still have succeeded.
    public var isCancelled: Bool {
        control?.isCancelled ?? false
    }
}
