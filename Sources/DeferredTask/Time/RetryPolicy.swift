/// The number of attempts, the pauses between them, and the errors that are retried.
///
/// Pauses grow exponentially up to a cap, with *full jitter*: each is a random part of its limit, so that clients that
/// failed together don't all retry at the same time. See
/// [Exponential Backoff and Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
///
/// ```swift
/// let policy = RetryPolicy(attempts: 4, base: .milliseconds(200), cap: .seconds(5))
/// let task = Task.retry(policy) { attempt in session.beginDataTask(with: url) }
/// ```
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first.
    ///
    /// At least 1: smaller values trap.
    public var attempts: Int {
        didSet { Self.check(attempts) }
    }
    /// The longest pause after the first attempt; it doubles with each attempt. Zero or less for no pauses.
    public var base: Duration
    /// The upper limit of every pause. A pause of 2³² seconds (136 years) or more never ends.
    public var cap: Duration
    /// A closure that returns whether an error is worth another attempt. Cancellations are never retried.
    public var isRetryable: @Sendable (any Error) -> Bool {
        didSet { hasOwnClosures = true }
    }
    /// The clock that measures the pauses.
    public var clock: any Clock<Duration>
    /// A closure that returns random numbers from 0 up to 1, for the jitter. Values outside are clamped; NaN counts as
    /// 1.
    public var random: @Sendable () -> Double {
        didSet { hasOwnClosures = true }
    }
    /// False if both closures are the library's, which don't read task-locals: then nobody has to capture these.
    package private(set) var hasOwnClosures = true

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: At least 1.
    ///   - base: Zero for no pauses.
    ///   - cap: Limits every pause, including the first.
    ///   - clock: The clock that measures the pauses; inject a manual one in tests.
    ///   - random: The source of the jitter; inject a constant or a seeded generator in tests.
    ///   - isRetryable: By default, every error but a cancellation.
    public init(
        attempts: Int,
        base: Duration = .milliseconds(100),
        cap: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        isRetryable: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) {
        Self.check(attempts)
        self.attempts = attempts
        self.base = base
        self.cap = cap
        self.clock = clock
        self.random = random
        self.isRetryable = isRetryable
    }

    /// Returns this policy, whose closures are the library's.
    package func withLibraryClosures() -> Self {
        var result = self
        result.hasOwnClosures = false
        return result
    }

    /// Returns the pause after an attempt, the first being 1. Never negative.
    ///
    /// - Complexity: O(1): the doubling ends at the cap.
    package func pause(after attempt: Int) -> Duration {
        var limit = min(base, cap)
        var doublings = max(attempt, 1) - 1
        while doublings > 0, limit > .zero, limit < cap {
            // Not `limit * 2 > cap`, which might overflow.
            limit = limit > cap / 2 ? cap : limit * 2
            doublings -= 1
        }
        let part = random()
        limit = max(limit, .zero)
        return part < 1 ? limit * max(part, 0) : limit
    }

    private static func check(_ attempts: Int) {
        precondition(attempts > 0, "RetryPolicy(attempts: \(attempts)) would make no attempt; use 1 or more")
    }

    /// Returns whether there is another attempt after this one has failed.
    package func allowsAnother(after attempt: Int, _ error: any Error) -> Bool {
        attempt < attempts && !error.isCancellation && isRetryable(error)
    }
}
