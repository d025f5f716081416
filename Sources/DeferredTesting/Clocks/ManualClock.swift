public import DeferredCore

/// A clock that stands still until a test advances it.
///
/// Pass it to code that takes a `Clock`, so that no test has to wait for time to pass: to `delay(for:clock:)`, to
/// `Task.sleep(for:clock:)`, and to your own functions.
///
/// ```swift
/// let clock = ManualClock()
/// let late = answer.delay(for: .seconds(5), clock: clock)
/// try await clock.waitForSleepers()  // until the pause has begun
/// clock.advance(by: .seconds(5))
/// #expect(await late.value == 42)
/// ```
///
/// Advancing the clock wakes the tasks that are due, in order of their deadlines and, where these are equal, in the
/// order in which the tasks fell asleep. It does not wait for the work that they do next: a task that sleeps in a loop
/// is woken once by ``advance(by:)``, however far that goes. To follow a loop, alternate ``waitForSleepers(_:)`` and
/// ``advanceToNextDeadline()``.
///
/// **Thread safety:** all members can be used from any thread; the order of wake-ups holds for one advance at a time.
/// **Cancelling** a sleeping task wakes it at once, with `CancellationError`. **Lifetime:** the clock keeps nothing of
/// tasks that no longer sleep, and a sleeping task keeps the clock.
public final class ManualClock: Clock {
    /// The clock measures in `Swift.Duration`s.
    public typealias Duration = Swift.Duration

    let sleepers = Lock(Sleepers<CheckedContinuation<Void, any Error>, FutureStorage<Void>>())

    /// The shortest duration that the clock claims to resolve. Deadlines are exact whatever its value.
    public let minimumResolution: Duration

    /// Creates a clock whose ``now`` has offset zero.
    ///
    /// - Parameter minimumResolution: The resolution to report to code that asks; by default a nanosecond.
    public init(minimumResolution: Duration = .nanoseconds(1)) {
        self.minimumResolution = minimumResolution
    }

    /// The current instant.
    public var now: Instant { sleepers.withLock { $0.now } }

    /// The number of tasks that are asleep.
    public var sleeperCount: Int { sleepers.withLock { $0.count } }

    /// The earliest deadline of the sleeping tasks, or `nil` if no task is asleep.
    public var nextDeadline: Instant? { sleepers.withLock { $0.nextDeadline } }

    /// Advances the clock by a duration and wakes the tasks that are due.
    ///
    /// - Parameter duration: Zero or more.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "ManualClock.advance(by: \(duration)) would go back; use zero or more")
        wake(sleepers.withLock { $0.advance(to: $0.now.advanced(by: duration)) })
    }

    /// Advances the clock to `instant` and wakes the tasks that are due. Does nothing if that instant has passed.
    public func advance(to instant: Instant) {
        wake(sleepers.withLock { $0.advance(to: instant) })
    }

    /// Advances the clock to ``nextDeadline`` and wakes all tasks that are due then.
    ///
    /// - Returns: False, and no time passes, if no task is asleep.
    @discardableResult
    public func advanceToNextDeadline() -> Bool {
        let due = sleepers.withLock { $0.advanceToNextDeadline() }
        wake(due)
        return !due.isEmpty
    }

    /// Waits until at least `count` tasks are asleep.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled, for example by the time limit of a test.
    public func waitForSleepers(_ count: Int = 1) async throws(CancellationError) {
        try await sleepers(count).get()
    }

    /// Returns a future that is filled once at least `count` tasks are asleep, on the thread of the last one to fall
    /// asleep.
    ///
    /// For tests without `async`: `clock.sleepers(2).wait()` blocks until then. The clock keeps the future until it is
    /// filled.
    public func sleepers(_ count: Int = 1) -> Future<Void> {
        let storage = FutureStorage<Void>()
        if sleepers.withLock({ $0.watch(for: count, storage) }) { storage.fulfil(with: ()) }
        return Future(storage)
    }

    private func wake(_ due: [CheckedContinuation<Void, any Error>]) {
        for sleeper in due { sleeper.resume() }
    }
}

extension ManualClock {
    /// A point in the time of a ``ManualClock``.
    ///
    /// Instants of different clocks compare by how far each clock has been advanced.
    public struct Instant: InstantProtocol {
        /// The time by which a clock that shows this instant has been advanced.
        public let offset: Duration

        /// Creates the instant at which a clock has been advanced by `offset`; by default, the one at which each clock
        /// starts.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the instant that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this instant until `other`.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns a Boolean value that indicates whether `one` is earlier than `other`.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }
}

extension ManualClock {
    /// Suspends the current task until the clock has been advanced to `deadline`; returns at once if it already has.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which the task wakes.
    ///   - tolerance: Has no effect: no task is woken late.
    /// - Throws: `CancellationError`, at once, when the current task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let ticket = sleepers.withLock { $0.ticket(until: deadline) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                switch sleepers.withLock({ $0.sleep(ticket, continuation) }) {
                case .due:
                    continuation.resume()
                case .sleeps(let watchers):
                    // The handler below misses a cancellation that came before the task was asleep.
                    if Task.isCancelled { cancel(ticket) }
                    for watcher in watchers { watcher.fulfil(with: ()) }
                }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    private func cancel(_ ticket: SleepTicket) {
        sleepers.withLock { $0.cancel(ticket) }?.resume(throwing: CancellationError())
    }
}
