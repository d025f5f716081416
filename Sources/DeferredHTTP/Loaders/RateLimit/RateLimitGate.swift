internal import DeferredCore

/// The bucket shared by the copies of a ``RateLimit``.
final class RateLimitGate: Sendable {
    private let room: WaitingRoom<RateLimitStateMachine, (any HTTPLoader)?>
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch

    init(_ machine: RateLimitStateMachine, _ clock: any Clock<Duration>) {
        room = WaitingRoom(machine)
        self.clock = clock
        stopwatch = Stopwatch(clock)
    }

    var waitingCount: Int { room.withMachine { $0.waitingCount } }

    /// Passes `task` on to `next` as soon as there is a token for it, unless it is cancelled before.
    func enter(_ task: HTTPTask, next: (any HTTPLoader)?) {
        let now = stopwatch.elapsed
        if room.enter(task, next, goesOn: { $0.arrived($1, at: now) }) { return task.pass(to: next) }
        startTimer()
    }

    /// Starts the one timer for all waiting tasks, unless it is running or no task waits.
    private func startTimer() {
        let now = stopwatch.elapsed
        guard let pause = room.withMachine({ $0.startTimer(at: now) }) else { return }
        _ = ClockTimer(after: pause, clock: clock) { self.letGo() }
    }

    private func letGo() {
        while let waiter = nextWaiter() { waiter.task.pass(to: waiter.context) }
        room.withMachine { $0.timerEnded() }
        startTimer()
    }

    private func nextWaiter() -> WaitingRoom<RateLimitStateMachine, (any HTTPLoader)?>.Waiter? {
        let now = stopwatch.elapsed
        return room.next { $0.next(at: now) }
    }
}
