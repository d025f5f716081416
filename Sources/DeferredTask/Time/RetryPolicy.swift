/// How often, and after which pauses, to try again.
///
/// Pauses grow exponentially up to a cap, with *full jitter*: each is a random part of what it could be, so that clients
/// that failed together don't come back together. See
/// [Exponential Backoff and Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
///
/// ```swift
/// let policy = RetryPolicy(attempts: 4, base: .milliseconds(200), cap: .seconds(5))
/// let task = Task.retry(policy) { attempt in session.beginDataTask(with: url) }
/// ```
public struct RetryPolicy: Sendable {
    /// How many attempts there are at most, the first included.
    ///
    /// At least 1: fewer trap.
    public var attempts: Int {
        didSet { Self.check(attempts) }
    }
    /// What the pause after the first attempt can be at most; it doubles with each. Zero or less for no pauses.
    public var base: Duration
    /// What any pause can be at most. A pause of 2³² seconds (136 years) or more never ends.
    public var cap: Duration
    /// Which errors are worth another attempt. Cancellations never are.
    public var isRetryable: @Sendable (any Error) -> Bool
    /// Measures the pauses.
    public var clock: any Clock<Duration>
    /// A random number from 0 up to 1, for the jitter. What is beyond is cut; what is no number counts as 1.
    public var random: @Sendable () -> Double

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: At least 1.
    ///   - base: Zero for no pauses.
    ///   - cap: Cuts every pause, the first included.
    ///   - clock: What measures the pauses; inject a manual one in tests.
    ///   - random: Where the jitter comes from; inject a constant or a seeded generator in tests.
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

    /// The pause after an attempt, the first being 1. Never negative.
    ///
    /// - Complexity: O(1): the doubling ends at the cap.
    public func pause(after attempt: Int) -> Duration {
        ExponentialBackoff(base: base, cap: cap).pause(after: attempt, part: random())
    }

    private static func check(_ attempts: Int) {
        precondition(attempts > 0, "RetryPolicy(attempts: \(attempts)) would try nothing; use 1 or more")
    }

    /// Whether there is another attempt after this one has failed.
    func allowsAnother(after attempt: Int, _ error: any Error) -> Bool {
        attempt < attempts && !error.isCancellation && isRetryable(error)
    }
}
