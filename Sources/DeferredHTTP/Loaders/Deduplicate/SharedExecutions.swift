internal import DeferredCore

/// The executions in flight of a ``Deduplicate`` and its copies.
final class SharedExecutions: Sendable {
    private struct State: Sendable {
        /// The executions that further requests can join.
        var open: [DeduplicationKey: SharedExecution] = [:]
        var mergedCount = 0

        mutating func close(_ shared: SharedExecution) {
            if shared.isOpen { open[shared.key] = nil }
            shared.isOpen = false
        }
    }

    private let state = Lock(State())

    var mergedCount: Int { state.withLock { $0.mergedCount } }

    /// Completes `consumer` with the result of an equal request's execution.
    ///
    /// - Returns: The execution, if it has to be loaded.
    func join(_ key: DeduplicationKey, _ consumer: HTTPTask) -> HTTPTask? {
        // In place, so that the key is looked up once.
        func add(to shared: inout SharedExecution) -> SharedExecution {
            shared.consumers.add(consumer)
            return shared
        }
        let (shared, isNew) = state.withLock { state in
            let shared = add(to: &state.open[key, default: SharedExecution(key, of: consumer, in: self)])
            let isNew = shared.consumers.count == 1
            if !isNew { state.mergedCount += 1 }
            return (shared, isNew)
        }
        if !consumer.execution.adopt(shared) { shared.cancel(for: consumer.execution) }
        guard isNew else {
            shared.catchUp(consumer)
            return nil
        }
        return shared.execution.map { HTTPTask($0, isLoaders: true) }
    }

    /// Returns the tasks that get the result of an execution.
    func consumers(of shared: SharedExecution) -> SharedExecution.Consumers {
        state.withLock { _ in shared.consumers }
    }

    /// Lets no further request join an execution, and returns the tasks that get its result, for the last time.
    func end(_ shared: SharedExecution) -> SharedExecution.Consumers {
        state.withLock { state in
            state.close(shared)
            defer { shared.consumers = .init() }
            return shared.consumers
        }
    }

    /// Removes a task that was cancelled or completed, unless it is cancelled, and alone: then the end of the execution
    /// is its own.
    ///
    /// - Returns: The task, and true if no other wants the result; then no further request can join.
    func leave(_ shared: SharedExecution, _ consumer: HTTPExecution) -> (gone: HTTPTask?, isLast: Bool) {
        state.withLock { state in
            let isLast = shared.consumers.count == 1 && shared.consumers.contain(consumer)
            if isLast { state.close(shared) }
            if isLast, !consumer.isComplete { return (nil, true) }
            return (shared.consumers.remove(consumer), isLast)
        }
    }
}
