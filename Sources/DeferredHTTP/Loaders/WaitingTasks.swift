internal import DeferredCore

/// A state machine that lets tickets wait, and decides which of them go on.
protocol WaitingStateMachine: Sendable {
    /// - Returns: True if the ticket was waiting, and now is not to go on any more.
    mutating func cancelled(_ ticket: UInt64) -> Bool
}

/// The tasks that wait in a loader: each has a ticket, and a context with which it goes on.
///
/// A task that is cancelled while it waits fails with ``HTTPError/Code/cancelled``. Nothing is called or released under
/// the lock.
final class WaitingTasks<Machine: WaitingStateMachine, Context: Sendable>: Sendable {
    struct Waiter: Sendable {
        let task: HTTPTask
        let context: Context
    }

    private struct State: Sendable {
        var machine: Machine
        var waiters: [UInt64: Waiter] = [:]
        var lastTicket: UInt64 = 0
    }

    private let state: Lock<State>

    init(_ machine: Machine) {
        state = Lock(State(machine: machine))
    }

    /// Feeds an event to the machine that lets no waiting task go on.
    func withMachine<Result: Sendable>(_ event: (inout Machine) -> Result) -> Result {
        state.withLock { event(&$0.machine) }
    }

    /// Feeds the arrival of a task to the machine.
    ///
    /// - Parameter goesOn: Returns false if the ticket has to wait.
    /// - Returns: True if the task goes on now. Otherwise it waits here, unless it is cancelled or completed before.
    func enter(_ task: HTTPTask, _ context: Context, goesOn: (inout Machine, UInt64) -> Bool) -> Bool {
        let ticket = state.withLock { state -> UInt64? in
            state.lastTicket += 1
            if goesOn(&state.machine, state.lastTicket) { return nil }
            state.waiters[state.lastTicket] = Waiter(task: task, context: context)
            return state.lastTicket
        }
        guard let ticket else { return true }
        task.addCancellationHandler { [weak self] in self?.leave(ticket)?.task.fail(.cancelled) }
        // A task that an earlier loader completes no longer waits.
        task.execution.whenEnded { [weak self] _ in
            let gone = self?.leave(ticket)
            withExtendedLifetime(gone) {}
        }
        return false
    }

    /// Removes the task whose ticket the machine returns.
    func next(_ event: (inout Machine) -> UInt64?) -> Waiter? {
        state.withLock { state in event(&state.machine).flatMap { state.waiters.removeValue(forKey: $0) } }
    }

    /// Removes the tasks whose tickets the machine returns, in the same order.
    func all(_ event: (inout Machine) -> [UInt64]) -> [Waiter] {
        state.withLock { state in event(&state.machine).compactMap { state.waiters.removeValue(forKey: $0) } }
    }

    private func leave(_ ticket: UInt64) -> Waiter? {
        next { $0.cancelled(ticket) ? ticket : nil }
    }
}
