/// A closure that waits for its time, and possibly for a future beside it, whose filling makes it pointless.
///
/// It is taken back as every other waiting handler is: by its registration, or by the future.
///
/// SAFETY: it adds nothing to `Notice` but methods.
class TimerNotice: Notice, @unchecked Sendable {
    /// Stops waiting for the time.
    func stop() {}

    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        // The future came first.
        if membership.take() { dismiss() }
        return .done
    }

    override func dismiss() {
        stop()
        super.dismiss()
    }
}

/// One that a ``TimerQueue`` calls.
///
/// SAFETY: what it adds never changes, but for `position`, which the lock of its queue guards.
final class QueuedNotice: TimerNotice, TimerHeapElement, @unchecked Sendable {
    let deadline: ContinuousClock.Instant
    var position: Int?
    private let queue: TimerQueue

    init(
        _ membership: consuming Membership,
        in queue: TimerQueue,
        at deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable () -> Void
    ) {
        self.queue = queue
        self.deadline = deadline
        super.init(membership, body)
    }

    override func stop() { queue.remove(self) }
}

/// One that a Swift task calls, after it has slept on some clock.
///
/// SAFETY: `sleeping` is set once, before anybody can take this back.
final class SleepingNotice: TimerNotice, @unchecked Sendable {
    private var sleeping: Task<Void, Never>?

    /// Goes to sleep.
    ///
    /// A clock that refuses to sleep ends the pause at once. Where that is because this was cancelled, the call does nothing.
    func sleep<C: Clock>(until deadline: C.Instant, on clock: C) {
        sleeping = Task.detached { [self] in
            try? await clock.sleep(until: deadline, tolerance: nil)
            call()
        }
    }

    override func stop() { sleeping?.cancel() }
}
