public import DeferredCore

/// A clock that stands still until a test advances it.
///
/// Pass it where code takes a `Clock`, and no test has to wait for time to pass: `delay(for:clock:)`,
/// `Task.sleep(for:clock:)`, and what you write yourself.
///
/// ```swift
/// let clock = ManualClock()
/// let late = answer.delay(for: .seconds(5), clock: clock)
/// try await clock.waitForSleepers()  // until the pause has begun
/// clock.advance(by: .seconds(5))
/// #expect(await late.value == 42)
/// ```
///
/// Advancing wakes who is due, in order of their deadlines and, where these are equal, in the order in which they fell
/// asleep. It does not wait for what they do then: someone who sleeps in a loop is woken once by ``advance(by:)``,
/// however far that goes. To follow a loop, alternate ``waitForSleepers(_:)`` and ``advanceToNextDeadline()``.
///
/// **Thread safety:** all members can be used from any thread; the order of wake-ups holds for one advance at a time.
/// **Cancelling** a task that sleeps wakes it at once, with `CancellationError`. **Lifetime:** the clock keeps nothing of
/// those that no longer sleep, and lives as long as somebody does.
public final class ManualClock: Clock {
    /// The clock measures in `Swift.Duration`s.
    public typealias Duration = Swift.Duration

    let sleepers = Lock(Sleepers<CheckedContinuation<Void, any Error>, FutureStorage<Void>>())

    /// The shortest time that the clock tells from none. Deadlines are kept exactly, whatever this is.
    public let minimumResolution: Duration

    /// Creates a clock whose ``now`` has offset zero.
    ///
    /// - Parameter minimumResolution: For code that asks; by default a nanosecond.
    public init(minimumResolution: Duration = .nanoseconds(1)) {
        self.minimumResolution = minimumResolution
    }

    /// What the clock shows.
    public var now: Instant { sleepers.withLock { $0.now } }

    /// How many tasks sleep at present.
    public var sleeperCount: Int { sleepers.withLock { $0.count } }

    /// When the first of those that sleep is due, or `nil` if nobody sleeps.
    public var nextDeadline: Instant? { sleepers.withLock { $0.nextDeadline } }

    /// Lets time pass, and wakes who is due.
    ///
    /// - Parameter duration: How much; zero or more.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "ManualClock cannot go back, but was to advance by \(duration)")
        wake(sleepers.withLock { $0.advance(by: duration) })
    }

    /// Lets time pass until `instant`, and wakes who is due. Does nothing if that has passed.
    public func advance(to instant: Instant) {
        wake(sleepers.withLock { $0.advance(to: instant) })
    }

    /// Lets time pass until the first of those that sleep is due, and wakes all who are due then.
    ///
    /// - Returns: False, and no time passes, if nobody sleeps.
    @discardableResult
    public func advanceToNextDeadline() -> Bool {
        let due = sleepers.withLock { $0.advanceToNextDeadline() }
        wake(due)
        return !due.isEmpty
    }

    /// Waits until at least `count` tasks sleep.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled, as by the time limit of a test.
    public func waitForSleepers(_ count: Int = 1) async throws(CancellationError) {
        try await sleepers(count).get()
    }

    /// A future that is filled as soon as at least `count` tasks sleep, on the thread of the one that was missing.
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
