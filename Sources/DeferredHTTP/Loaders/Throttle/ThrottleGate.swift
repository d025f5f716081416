internal import DeferredCore

/// The state shared by the copies of a ``Throttle``.
final class ThrottleGate: Sendable {
    private struct Waiting: Sendable {
        let task: HTTPTask
        let next: (any HTTPLoader)?
    }

    private struct State: Sendable {
        var machine: ThrottleStateMachine
        var waiting: [UInt64: Waiting] = [:]

        /// Removes a waiting task, to be released outside of the lock; returns `nil` if it doesn't wait any more.
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

    /// Passes `task` on to `next` when it is its turn, unless it is cancelled before.
    func enter(_ task: HTTPTask, next: (any HTTPLoader)?) {
        let ticket = state.withLock { state -> UInt64? in
            if state.machine.passed() { return nil }
            // If an ApplyEnvironment comes after this loader, a request may have its own environment.
            let host = task.request.host ?? task.request.environment?.host ?? ""
            let (ticket, goesOn) = state.machine.arrived(host: host)
            if goesOn { return nil }
            state.waiting[ticket] = Waiting(task: task, next: next)
            return ticket
        }
        guard let ticket else { return start(task, next) }
        task.addCancellationHandler { [weak self] in
            self?.state.withLock { $0.cancel(ticket) }?.task.fail(.cancelled)
        }
        // A task that an earlier loader completes gives up its place in the queue.
        task.addCompletionHandler { [weak self] _ in
            let gone = self?.state.withLock { $0.cancel(ticket) }
            withExtendedLifetime(gone) {}
        }
    }

    private func start(_ task: HTTPTask, _ next: (any HTTPLoader)?) {
        task.addCompletionHandler { result in
            // A stream keeps its place until its end.
            if case .success(let response) = result, let stream = response.stream {
                stream.addEndHandler { _ in self.end() }
            } else {
                self.end()
            }
        }
        task.pass(to: next)
    }

    private func end() {
        let mayGoOn = state.withLock { state in
            state.machine.ended()
            return state.machine.waitingCount > 0
        }
        if mayGoOn { startWaiting() }
    }

    /// Starts waiting tasks in a loop: tasks that complete as soon as they are loaded would otherwise start each other
    /// recursively.
    private func startWaiting() {
        Turns.run { self.startNext() }
    }

    private func startNext() -> Bool {
        let entry = state.withLock { $0.next() }
        if let entry { start(entry.task, entry.next) }
        return entry != nil
    }
}
