internal import DeferredCore

/// Limits how many requests go on in a second. The others wait here, in the order in which they came.
///
/// A token bucket: it holds `burst` tokens, gets `requestsPerSecond` of them back each second, and every request takes
/// one.
///
/// ```swift
/// let chain = RateLimit(requestsPerSecond: 10, burst: 20) --> URLSessionLoader()
/// request.isRateLimited = false  // goes by, and takes no token
/// ```
///
/// One that is cancelled while it waits completes with ``HTTPError/Code/cancelled``, takes no token, and the next
/// loader never sees it. Behind a ``Retry``, each attempt takes a token. Copies share the bucket.
public struct RateLimit: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let gate: RateLimitGate

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: How many go on in a second in the long run. Zero, less, or no number lets only the burst
    ///     pass.
    ///   - burst: How many may go on at once after a quiet time; at least 1.
    ///   - clock: The clock by which the time is measured; a manual one in tests.
    public init(requestsPerSecond: Double, burst: Int = 1, clock: any Clock<Duration> = ContinuousClock()) {
        gate = RateLimitGate(RateLimitStateMachine(requestsPerSecond: requestsPerSecond, burst: burst), clock)
    }

    /// The number of requests that wait.
    public var waitingCount: Int { gate.waitingCount }

    /// Passes the task on when there is a token for it.
    public func load(_ task: HTTPTask) {
        guard task.request.isRateLimited else { return task.pass(to: next) }
        if task.failIfCancelled() { return }
        gate.enter(task, next: next)
    }
}

extension HTTPRequest {
    /// True if ``RateLimit`` counts this request, and makes it wait; the default.
    public var isRateLimited: Bool {
        get { self[RateLimitedOption.self] }
        set { self[RateLimitedOption.self] = newValue }
    }
}

private enum RateLimitedOption: HTTPRequestOption {
    static let defaultValue = true
}
