public import DeferredCore

extension Task {
    /// The result, as soon as the task ends.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel this one. Raises the priority of this task as
    /// ``value`` does.
    @inlinable
    public var result: Result {
        get async {
            await future.value
        }
    }

    /// The value, as soon as the task succeeds.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel this one, as in Swift's own `Task.value`.
    /// While it waits, a `Task { }` that this task is, or was derived from, has at least the priority of the awaiting
    /// task.
    ///
    /// - Throws: The error of the task.
    @inlinable
    public var value: Success {
        get async throws { try await result.get() }
    }

    /// Returns the value, as soon as the task succeeds; cancelling the awaiting task cancels this one.
    ///
    /// For structured concurrency: the wait ends when this task does, which decides how it reacts to a cancellation.
    /// Raises the priority of this task as ``value`` does.
    ///
    /// - Throws: The error of the task.
    @inlinable
    public func get() async throws -> Success {
        if let result = peek() { return try result.get() }
        return try await withTaskCancellationHandler {
            await future.value
        } onCancel: {
            cancel()
        }.get()
    }
}
