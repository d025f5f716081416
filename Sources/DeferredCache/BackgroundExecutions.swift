internal import DeferredCore
internal import DeferredHTTP

/// The requests that a cache has sent by itself, and which end with its reset.
final class BackgroundExecutions: Sendable {
    private struct State: Sendable {
        var executions: [ObjectIdentifier: HTTPExecution] = [:]
        /// The number of resets under way.
        var resetCount = 0
    }

    private let state = Lock(State())

    /// Keeps an execution until its end; returns false during a reset.
    func add(_ execution: HTTPExecution) -> Bool {
        let isOpen = state.withLock { state in
            guard state.resetCount == 0 else { return false }
            state.executions[ObjectIdentifier(execution)] = execution
            return true
        }
        guard isOpen else { return false }
        execution.whenEnded { [weak execution] _ in
            guard let execution else { return }
            let gone = self.state.withLock { $0.executions.removeValue(forKey: ObjectIdentifier(execution)) }
            withExtendedLifetime(gone) {}
        }
        return true
    }

    /// Cancels all executions; the future is filled when they have ended. Until ``reopen()``, none can be added.
    func reset() -> Future<Void> {
        let executions = state.withLock { state in
            state.resetCount += 1
            return Array(state.executions.values)
        }
        for execution in executions { execution.cancel() }
        return executions.map { Future($0.completion) }.allFilled().ignored()
    }

    func reopen() {
        state.withLock { $0.resetCount -= 1 }
    }
}
