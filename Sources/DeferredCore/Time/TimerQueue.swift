internal import Dispatch

/// Calls closures when a continuous clock says so: one heap, and one pair of Dispatch timers, for all timers of the process.
///
/// Most timers are taken back long before their time. Here that costs no system call, and leaves nothing behind; a Swift
/// task that sleeps would stay with the runtime until its deadline, though cancelled.
///
/// A continuous clock goes on while the machine is asleep, which no timer of Dispatch does. So there are two: one that
/// counts the time awake, and one that looks at the wall clock, which is right after the machine has slept, but may be set.
/// Either may come too early; whichever comes first, the continuous clock decides what is due.
///
/// A queue lives as long as closures wait in it.
final class TimerQueue: Sendable {
    /// What can wake a queue.
    enum Alarm: CaseIterable {
        case uptime
        case wallClock
    }

    /// A timer of Dispatch.
    // SAFETY: sources may be used from any thread; not every SDK says so.
    private struct AlarmTimer: @unchecked Sendable {
        let kind: Alarm
        let source: any DispatchSourceTimer
    }

    private struct State {
        var heap = TimerHeap<QueuedNotice>()
        /// What the alarms are set to, unless they have gone off.
        var armed: ContinuousClock.Instant?
    }

    static let shared = TimerQueue()

    private let state = Lock(State())
    private let now: @Sendable () -> ContinuousClock.Instant
    private let alarms: [AlarmTimer]

    /// Creates a queue. In tests, its clock may be one that jumps, and it may have to do with one of the alarms.
    init(_ kinds: [Alarm] = Alarm.allCases, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        let queue = DispatchQueue(label: "Deferred.timers", qos: .userInitiated)
        alarms = kinds.map { AlarmTimer(kind: $0, source: DispatchSource.makeTimerSource(queue: queue)) }
        for alarm in alarms {
            alarm.source.setEventHandler { [weak self] in self?.wake() }
            alarm.source.activate()
        }
    }

    /// How many closures wait.
    var count: Int { state.withLock { $0.heap.count } }

    /// Calls `notice` at its time, on a background queue; from there right away, if that has come.
    func add(_ notice: QueuedNotice) {
        let now = now()
        guard notice.deadline > now else { return Self.submit(notice) }
        state.withLock { state in
            state.heap.insert(notice)
            arm(notice.deadline, now, &state)
        }
    }

    /// Takes `notice` out, if it waits here.
    func remove(_ notice: QueuedNotice) {
        // The caller has a reference, so that nothing goes under the lock.
        _ = state.withLock { $0.heap.remove(notice) }
    }

    /// Calls what is due.
    func wake() {
        let due = state.withLock { state in
            let now = now()
            let due = state.heap.removeDue(at: now)
            state.armed = nil
            if let next = state.heap.earliest { arm(next, now, &state) }
            return due
        }
        for notice in due { Self.submit(notice) }
    }

    /// Under the lock, so that of two deadlines the earlier one stays.
    private func arm(_ deadline: ContinuousClock.Instant, _ now: ContinuousClock.Instant, _ state: inout State) {
        if let armed = state.armed, armed <= deadline { return }
        state.armed = deadline
        // If the alarm comes too early, because the pause does not fit into it, it is set again.
        let (seconds, attoseconds) = min(now.duration(to: deadline), .seconds(Int32.max)).components
        let (whole, rest) = (Int(seconds), Int(attoseconds / 1_000_000_000) + 1)
        for alarm in alarms {
            switch alarm.kind {
            case .uptime:
                alarm.source.schedule(deadline: .now() + .seconds(whole) + .nanoseconds(rest), leeway: .milliseconds(1))
            case .wallClock:
                alarm.source.schedule(
                    wallDeadline: .now() + .seconds(whole) + .nanoseconds(rest),
                    leeway: .milliseconds(1)
                )
            }
        }
    }

    /// Calls a closure off the queue of the alarms, which it might hold up. Until it starts, it can still be taken back.
    private static func submit(_ notice: QueuedNotice) {
        DispatchQueue.global(qos: .userInitiated).async { notice.call() }
    }
}
