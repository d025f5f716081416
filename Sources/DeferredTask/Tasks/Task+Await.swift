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
        try await get(on: #isolation)
    }

    @inlinable
    func get(on actor: isolated (any Actor)?) async throws -> Success {
        try await withTaskCancellationHandler {
            // Capturing the actor keeps the closure on it, which saves two hops.
            _ = actor
            return try await value
        } onCancel: {
            cancel()
        }
    }
}
