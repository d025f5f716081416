internal import DeferredCore

/// The bucket shared by the copies of a ``RateLimit``.
final class RateLimitGate: Sendable {
    private struct Waiting: Sendable {
        let task: HTTPTask
        let next: (any HTTPLoader)?
    }

    private struct State: Sendable {
        var machine: RateLimitStateMachine
        var waiting: [UInt64: Waiting] = [:]
        /// True while a timer or its closure will let waiting tasks go on.
        var isTimed = false
    }

    private let state: Lock<State>
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch

    init(_ machine: RateLimitStateMachine, _ clock: any Clock<Duration>) {
        state = Lock(State(machine: machine))
        self.clock = clock
        stopwatch = Stopwatch(clock)
    }

    var waitingCount: Int { state.withLock { $0.machine.waitingCount } }

    /// Passes `task` on to `next` as soon as there is a token for it, unless it is cancelled before.
    func enter(_ task: HTTPTask, next: (any HTTPLoader)?) {
        let now = stopwatch.elapsed
        let ticket = state.withLock { state -> UInt64? in
            let ticket = state.machine.arrived(at: now)
            if let ticket { state.waiting[ticket] = Waiting(task: task, next: next) }
            return ticket
        }
        guard let ticket else { return task.pass(to: next) }
        task.addCancellationHandler { [weak self] in self?.leave(ticket)?.task.fail(.cancelled) }
        // A task that an earlier loader completes no longer waits.
        task.addCompletionHandler { [weak self] _ in
            let gone = self?.leave(ticket)
            withExtendedLifetime(gone) {}
        }
        startTimer()
    }

    private func leave(_ ticket: UInt64) -> Waiting? {
        state.withLock { $0.machine.cancelled(ticket) ? $0.waiting.removeValue(forKey: ticket) : nil }
    }

    /// Starts the one timer for all waiting tasks, unless it is running or no task waits.
    private func startTimer() {
        let now = stopwatch.elapsed
        let pause = state.withLock { state -> Duration? in
            guard !state.isTimed, let pause = state.machine.pause(at: now) else { return nil }
            state.isTimed = true
            return pause
        }
        guard let pause else { return }
        _ = ClockTimer(after: pause, clock: clock) { self.letGo() }
    }

    private func letGo() {
        while let waiting = nextWaiting() { waiting.task.pass(to: waiting.next) }
        state.withLock { $0.isTimed = false }
        startTimer()
    }

    private func nextWaiting() -> Waiting? {
        let now = stopwatch.elapsed
        return state.withLock { state in
            state.machine.next(at: now).flatMap { state.waiting.removeValue(forKey: $0) }
        }
    }
}
