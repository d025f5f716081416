public import DeferredCore

extension Task {
    /// How the task ends, as soon as it does.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel this one.
    @inlinable
    public var result: Result {
        get async { await future.value }
    }

    /// The value, as soon as it is there.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel this one, as in Swift's own `Task.value`.
    ///
    /// - Throws: What the task fails with.
    @inlinable
    public var value: Success {
        get async throws { try await future.value.get() }
    }

    /// The value, as soon as it is there; cancelling the awaiting task cancels this one.
    ///
    /// For structured concurrency: the wait ends when this task does, which decides what a cancellation comes to.
    ///
    /// - Throws: What the task fails with.
    @inlinable
    public func get() async throws -> Success {
        try await get(on: #isolation)
    }

    @inlinable
    func get(on actor: isolated (any Actor)?) async throws -> Success {
        try await withTaskCancellationHandler {
            // Being captured keeps the closure on the caller's actor, which spares two hops.
            _ = actor
            return try await value
        } onCancel: {
            cancel()
        }
    }
}
