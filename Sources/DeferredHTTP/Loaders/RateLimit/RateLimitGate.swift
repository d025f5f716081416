internal import DeferredCore

/// The bucket shared by the copies of a ``RateLimit``.
final class RateLimitGate: Sendable {
    private let waiting: WaitingTasks<RateLimitStateMachine, any HTTPLoader>
    private let stopwatch: Stopwatch
    private let running = Lock(RunningTimer())

    /// The timer for those that wait, and a number that changes when its closure begins, or another timer.
    private struct RunningTimer {
        var round = 0
        var timer: ClockTimer?

        mutating func begin() -> Int {
            timer = nil
            round += 1
            return round
        }
    }

    init(_ machine: RateLimitStateMachine, _ clock: any Clock<Duration>) {
        waiting = WaitingTasks(machine)
        stopwatch = Stopwatch(clock)
    }

    var waitingCount: Int { waiting.withMachine { $0.waitingCount } }

    /// Passes `task` on to `next` as soon as there is a token for it, unless it is cancelled before.
    func enter(_ task: HTTPTask, next: any HTTPLoader) {
        let now = stopwatch.elapsed
        if waiting.enter(task, next, goesOn: { $0.arrived($1, at: now) }) { return task.pass(to: next) }
        startTimer()
        // Comes after the handler of WaitingTasks, with which the task has left.
        task.execution.whenEnded { [weak self] _ in self?.stopTimerIfUseless() }
    }

    /// Starts the one timer for all waiting tasks, unless it is running or no task waits.
    private func startTimer() {
        let now = stopwatch.elapsed
        guard let pause = waiting.withMachine({ $0.startTimer(at: now) }) else { return }
        let round = running.withLock { $0.begin() }
        let timer = stopwatch.timer(at: now + pause) { self.letGo() }
        running.withLock { if $0.round == round { $0.timer = timer } }
        // The last one may have left before the timer could be found.
        stopTimerIfUseless()
    }

    /// Stops the timer if no task waits: its closure keeps the bucket, and all that comes after it in the chain.
    private func stopTimerIfUseless() {
        guard waiting.withMachine({ $0.waitingCount == 0 }), let timer = running.withLock({ $0.timer.take() }) else {
            return
        }
        timer.cancel()
        // If that was too late, the closure does the rest.
        guard timer.registration.isCancelled else { return }
        waiting.withMachine { $0.timerEnded() }
        // For a task that has come meanwhile.
        startTimer()
    }

    private func letGo() {
        _ = running.withLock { $0.begin() }
        while let waiter = nextWaiter() { waiter.task.execution.later { waiter.task.pass(to: waiter.context) } }
        waiting.withMachine { $0.timerEnded() }
        startTimer()
    }

    private func nextWaiter() -> WaitingTasks<RateLimitStateMachine, any HTTPLoader>.Waiter? {
        let now = stopwatch.elapsed
        return waiting.next { $0.next(at: now) }
    }
}
