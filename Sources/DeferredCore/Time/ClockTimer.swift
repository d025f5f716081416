/// A timer that calls a closure once, unless it is cancelled first. Dropping the timer does nothing.
///
/// All waiting for a time in the package goes through this type. A timer on a `ContinuousClock` is an entry in the heap
/// of ``TimerQueue``; on any other clock, a Swift task sleeps. Even with a duration of zero or less, the closure runs
/// on another thread. With one that means "never" (see ``Swift/Duration/forever``), no timer is started, and the
/// closure is released at once.
///
/// The closure runs on a background queue, or, with other clocks, on Swift's global concurrent executor. Once
/// cancelled, it never starts, and it is freed before ``cancel()`` returns.
package struct ClockTimer: Cancellable {
    /// The registration that cancels the closure, and tells whether that was in time.
    package let registration: Registration

    /// Calls `body` after `duration`.
    package init<C: Clock>(after duration: C.Duration, clock: C, _ body: @escaping @Sendable () -> Void) {
        self.init(at: clock.now.deadline(after: duration), clock: clock, body)
    }

    /// Calls `body` at `deadline`; never, if that is `nil`.
    package init<C: Clock>(at deadline: C.Instant?, clock: C, _ body: @escaping @Sendable () -> Void) {
        registration = Registration(Self.start(.submitted(), at: deadline, on: clock, body))
    }

    /// Calls `body` after `duration`, unless `future` is filled or freed first, which releases the closure at once.
    ///
    /// - Parameter body: A closure that has to fill the future, since only then does the future release the timer.
    package init<C: Clock, Value>(
        after duration: C.Duration,
        clock: C,
        unless future: FutureStorage<Value>,
        _ body: @escaping @Sendable () -> Void
    ) {
        let deadline = future.isFinished ? nil : clock.now.deadline(after: duration)
        let node = Self.start(.waiting(for: future), at: deadline, on: clock, body)
        registration = Registration(node)
        if deadline != nil, !future.add(node) { registration.cancel() }
    }

    package func cancel() { registration.cancel() }

    private static func start<C: Clock>(
        _ membership: consuming Membership,
        at deadline: C.Instant?,
        on clock: C,
        _ body: @escaping @Sendable () -> Void
    ) -> HandlerNode {
        // A node that never fires, and is in no list, has no effect.
        guard let deadline else { return HandlerNode(.submitted()) }
        // Other clocks may have instants of this type, too.
        if clock is ContinuousClock, let deadline = deadline as? ContinuousClock.Instant {
            let timer = QueuedTimer(membership, in: .shared, at: deadline, body)
            TimerQueue.shared.add(timer)
            return timer
        }
        let timer = TimerNode(membership, body)
        timer.sleep(until: deadline, on: clock)
        return timer
    }
}

extension Duration {
    /// The shortest duration that means "never": 2³² seconds, some 136 years.
    ///
    /// Shorter durations can be added to the present on every clock that counts nanoseconds in 64 bits.
    package static var forever: Duration { .seconds(1 << 32) }
}

extension InstantProtocol {
    /// Returns the instant `duration` after this one: this instant for durations of zero or less, and `nil` ("never")
    /// for ``Swift/Duration/forever`` or more.
    ///
    /// Durations of other types than Swift's have no limit, since only their clock knows its range.
    package func deadline(after duration: Duration) -> Self? {
        guard duration > .zero else { return self }
        if let duration = duration as? Swift.Duration, duration >= .forever { return nil }
        return advanced(by: duration)
    }
}
