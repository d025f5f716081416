/// A closure that waits for its deadline, unless it is cancelled by its registration, or by a future that is filled
/// first.
///
/// SAFETY: `sleeping` is set once, before the timer can be cancelled.
class TimerNode: ObserverNode, @unchecked Sendable {
    private final var sleeping: Task<Void, Never>?

    /// Starts a task that sleeps until the deadline, and then calls the closure.
    ///
    /// If the clock's `sleep` throws, the closure is called at once, unless it has been cancelled.
    final func sleep<C: Clock>(until deadline: C.Instant, on clock: C) {
        sleeping = Task.detached { [self] in
            try? await clock.sleep(until: deadline, tolerance: nil)
            call()
        }
    }

    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        // The future came first.
        if membership.take() { dismiss() }
        return .done
    }

    /// Stops waiting for the deadline, and frees the closure.
    override func dismiss() {
        sleeping?.cancel()
        super.dismiss()
    }
}

/// A timer that a ``TimerQueue`` calls.
///
/// SAFETY: its properties never change, except `position`, which the lock of the queue guards.
final class QueuedTimer: TimerNode, @unchecked Sendable {
    /// The instant at which the closure is due.
    let deadline: ContinuousClock.Instant
    /// The timer's index in the queue's heap; `nil` while it is in none. Only the heap changes it.
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

    override func dismiss() {
        queue.remove(self)
        super.dismiss()
    }
}
