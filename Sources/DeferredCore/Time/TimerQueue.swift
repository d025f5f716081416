internal import Dispatch

/// The timers on the continuous clock: one heap, and one pair of Dispatch timers, for all timers of the process.
///
/// Most timers are cancelled long before their deadline. Here, cancelling costs no system call and frees all memory; a
/// sleeping Swift task would stay in the runtime until its deadline, even if cancelled.
///
/// The continuous clock advances while the machine is asleep, unlike any Dispatch timer. So there are two alarms: one
/// counts the time awake, and the other follows the wall clock, which is right after the machine has slept, but may be
/// set. Either may go off too early; whichever does so first, the continuous clock decides which closures are due.
///
/// A queue lives as long as closures wait in it.
final class TimerQueue: Sendable {
    /// A source of wake-ups.
    enum Alarm: CaseIterable {
        case uptime
        case wallClock
    }

    private struct State {
        var heap = TimerHeap()
        /// The deadline that the alarms are set to; `nil` if they have gone off.
        var armed: ContinuousClock.Instant?
        let alarms: [(kind: Alarm, timer: any DispatchSourceTimer)]
    }

    static let shared = TimerQueue()

    private let state: Lock<State>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Creates a queue. Tests may pass a clock that jumps, and a single alarm.
    init(_ kinds: [Alarm] = Alarm.allCases, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        let queue = DispatchQueue(label: "Deferred.timers", qos: .userInitiated)
        state = Lock(State(alarms: kinds.map { ($0, DispatchSource.makeTimerSource(queue: queue)) }))
        state.withLock { state in
            for alarm in state.alarms {
                alarm.timer.setEventHandler { [weak self] in self?.wake() }
                alarm.timer.activate()
            }
        }
    }

    /// The number of waiting closures.
    var count: Int { state.withLock { $0.heap.count } }

    /// Calls `timer` at its deadline, on a background queue; at once if the deadline has passed.
    func add(_ timer: QueuedTimer) {
        let now = now()
        guard timer.deadline > now else { return Self.submit(timer) }
        state.withLock { state in
            state.heap.insert(timer)
            arm(timer.deadline, now, &state)
        }
    }

    /// Removes `timer`, if it waits in this queue.
    func remove(_ timer: QueuedTimer) {
        // The caller holds a reference, so nothing is freed under the lock.
        _ = state.withLock { $0.heap.remove(timer) }
    }

    /// Calls the closures that are due.
    func wake() {
        let due = state.withLock { state in
            let now = now()
            let due = state.heap.removeDue(at: now)
            state.armed = nil
            if let next = state.heap.earliest { arm(next, now, &state) }
            return due
        }
        for timer in due { Self.submit(timer) }
    }

    /// Sets the alarms, under the lock, so that the earlier one of two deadlines wins.
    private func arm(_ deadline: ContinuousClock.Instant, _ now: ContinuousClock.Instant, _ state: inout State) {
        if let armed = state.armed, armed <= deadline { return }
        state.armed = deadline
        // If the time is longer than an alarm can hold, the alarm goes off too early, and is set again.
        let (seconds, attoseconds) = min(now.duration(to: deadline), .seconds(Int32.max)).components
        let (whole, rest) = (Int(seconds), Int(attoseconds / 1_000_000_000) + 1)
        for alarm in state.alarms {
            switch alarm.kind {
            case .uptime:
                alarm.timer.schedule(deadline: .now() + .seconds(whole) + .nanoseconds(rest), leeway: .milliseconds(1))
            case .wallClock:
                alarm.timer.schedule(
                    wallDeadline: .now() + .seconds(whole) + .nanoseconds(rest),
                    leeway: .milliseconds(1)
                )
            }
        }
    }

    /// Calls a closure off the queue of the alarms, which it might hold up. It can be cancelled until it starts.
    private static func submit(_ timer: QueuedTimer) {
        DispatchQueue.global(qos: .userInitiated).async { timer.call() }
    }
}
