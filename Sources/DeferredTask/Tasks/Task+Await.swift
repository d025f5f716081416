public import DeferredCore

extension Task {
    /// The result, as soon as the task ends.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel this one.
    @inlinable
    public var result: Result {
        get async { await future.value }
    }

    /// The value, as soon as the task succeeds.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel this one, as in Swift's own `Task.value`.
    ///
    /// - Throws: The error of the task.
    @inlinable
    public var value: Success {
        get async throws { try await future.value.get() }
    }

    /// Returns the value, as soon as the task succeeds; cancelling the awaiting task cancels this one.
    ///
    /// For structured concurrency: the wait ends when this task does, which decides how it reacts to a cancellation.
    ///
    /// - Throws: The error of the task.
    @inlinable
    public func get() async throws -> Success {
        if let result = peek() { return try result.get() }
        let result = await resultCancellably(on: #isolation)
        // Keeps the future during the wait, as `value` does.
        withExtendedLifetime(self) {}
        return try result.get()
    }

    /// The result of a task that has not ended, which is cancelled if the awaiting task is.
    ///
    /// Does nothing else after the wait, so that it need not return to the actor before its caller does.
    @inlinable
    func resultCancellably(on actor: isolated (any Actor)?) async -> Result {
        await withTaskCancellationHandler {
            // Capturing the actor keeps the closure on it, which saves two hops.
            _ = actor
            return await withUnsafeContinuation { storage.resume($0) }
        } onCancel: {
            cancel()
        }
    }
}
