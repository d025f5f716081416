internal import DeferredCore

/// What the copies of a ``Throttle`` share.
final class ThrottleGate: Sendable {
    private struct Waiting: Sendable {
        let task: HTTPTask
        let goOn: @Sendable () -> Void
    }

    private struct State: Sendable {
        var machine: ThrottleStateMachine
        var waiting: [UInt64: Waiting] = [:]

        /// What waited, to be let go outside of the lock; `nil` if it doesn't wait any more.
        mutating func cancel(_ ticket: UInt64) -> Waiting? {
            machine.cancelled(ticket) ? waiting.removeValue(forKey: ticket) : nil
        }

        mutating func next() -> Waiting? {
            machine.next().flatMap { waiting.removeValue(forKey: $0) }
        }
    }

    private let state: Lock<State>

    init(maximum: Int) {
        state = Lock(State(machine: ThrottleStateMachine(maximum: maximum)))
    }

    var waitingCount: Int { state.withLock { $0.machine.waitingCount } }

    var maximum: Int {
        get { state.withLock { $0.machine.maximum } }
        set {
            state.withLock { $0.machine.setMaximum(newValue) }
            startWaiting()
        }
    }

    /// Calls `goOn` when it is the task's turn, unless it is cancelled before.
    func enter(_ task: HTTPTask, goOn: @escaping @Sendable () -> Void) {
        let entry = Waiting(task: task, goOn: goOn)
        let (ticket, goesOn) = state.withLock { state in
            let (ticket, goesOn) = state.machine.arrived(host: task.request.host ?? "")
            if !goesOn { state.waiting[ticket] = entry }
            return (ticket, goesOn)
        }
        if goesOn { return start(entry) }
        task.addCancellationHandler { [weak self] in
            self?.state.withLock { $0.cancel(ticket) }?.task.fail(.cancelled)
        }
    }

    private func start(_ entry: Waiting) {
        entry.task.addCompletionHandler { _ in
            self.state.withLock { $0.machine.ended() }
            self.startWaiting()
        }
        entry.goOn()
    }

    /// In a loop, for where tasks complete as soon as they are loaded, each would start the next on top of its own stack.
    private func startWaiting() {
        Turns.run { self.startNext() }
    }

    private func startNext() -> Bool {
        let entry = state.withLock { $0.next() }
        if let entry { start(entry) }
        return entry != nil
    }
}
