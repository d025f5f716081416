public import DeferredCore

extension Task {
    /// The result, as soon as the task ends.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel this one. Raises the priority of this task as
    /// ``value`` does.
    @inlinable
    public var result: Result {
        get async {
            if let result = peek() { return result }
            if let control, control.isRunningInSwift { return await resultRaisingPriority(of: control) }
            return await future.value
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
        let result = await resultCancellably()
        // Keeps the future during the wait, as `value` does.
        withExtendedLifetime(self) {}
        return try result.get()
    }

    /// The result of a task that has not ended, which is cancelled if the awaiting task is.
    ///
    /// Does nothing else after the wait, so that it need not return to the actor before its caller does.
    @inlinable
    nonisolated(nonsending) func resultCancellably() async -> Result {
        await withTaskCancellationHandler {
            if let control, control.isRunningInSwift { return await resultRaisingPriority(of: control) }
            await withUnsafeContinuation { storage.resume($0) }
            return storage.value
        } onCancel: {
            cancel()
        }
    }

    /// The result of a task that has not ended, and that meanwhile has the priority of the awaiting task.
    @inlinable
    func resultRaisingPriority(of control: TaskControl) async -> Result {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return await future.value }
        return await withTaskPriorityEscalationHandler {
            // With the handler in place, so that no raise is missed.
            control.escalatePriority(to: _Concurrency.Task<Never, Never>.currentPriority)
            await withUnsafeContinuation { storage.resume($0) }
            return storage.value
        } onPriorityEscalated: { _, priority in
            control.escalatePriority(to: priority)
        }
    }
}
