/// A closure that a clock calls, unless it is taken back before. Dropping it does nothing.
///
/// Everything in the package that waits for a time does so through this. A `ContinuousClock` costs an entry in the heap of
/// ``TimerQueue``; on any other clock, a Swift task sleeps. A duration of zero or less still leaves the thread. One that means
/// "never" (see ``Swift/Duration/forever``) is not waited for at all, and its closure is let go at once.
///
/// The closure runs on a background queue, or, with other clocks, on Swift's global concurrent executor. Taken back, it
/// never starts afterwards, and is freed before ``cancel()`` returns.
package struct ClockTimer: Cancellable {
    /// Takes the closure back, and knows whether that was in time.
    package let registration: Registration

    /// Calls `body` after `duration`.
    package init<C: Clock>(after duration: C.Duration, clock: C, _ body: @escaping @Sendable () -> Void) {
        let deadline = clock.now.deadline(after: duration)
        registration = Registration(deadline.map { Self.start(.submitted(), at: $0, on: clock, body) } ?? .pointless)
    }

    /// Calls `body` at `deadline`.
    package init(at deadline: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void) {
        registration = Registration(Self.start(.submitted(), at: deadline, on: ContinuousClock(), body))
    }

    /// Calls `body` after `duration`, unless `future` is filled or goes before, which lets the closure go at once.
    ///
    /// - Parameter body: Has to fill the future, for it is only then that the future lets go of the timer.
    package init<C: Clock, Value>(
        after duration: C.Duration,
        clock: C,
        unless future: FutureStorage<Value>,
        _ body: @escaping @Sendable () -> Void
    ) {
        guard let deadline = clock.now.deadline(after: duration), !future.isFinished else {
            registration = Registration(.pointless)
            return
        }
        let node = Self.start(.waiting(for: future), at: deadline, on: clock, body)
        registration = Registration(node)
        if !future.add(node) { registration.cancel() }
    }

    package func cancel() { registration.cancel() }

    private static func start<C: Clock>(
        _ membership: consuming Membership,
        at deadline: C.Instant,
        on clock: C,
        _ body: @escaping @Sendable () -> Void
    ) -> FutureNode {
        // Of instants of this kind there may be other clocks.
        if clock is ContinuousClock, let deadline = deadline as? ContinuousClock.Instant {
            let notice = QueuedNotice(membership, in: .shared, at: deadline, body)
            TimerQueue.shared.add(notice)
            return notice
        }
        let notice = SleepingNotice(membership, body)
        notice.sleep(until: deadline, on: clock)
        return notice
    }
}

extension FutureNode {
    /// What can be taken back, and never does anything.
    fileprivate static var pointless: FutureNode { Notice(.submitted(), {}) }
}
