internal import DeferredCore

/// Limits the number of requests per second that are passed on. The others wait here, in order of arrival.
///
/// A token bucket: it holds `burst` tokens, regains `requestsPerSecond` of them each second, and every request takes
/// one.
///
/// ```swift
/// let chain = RateLimit(requestsPerSecond: 10, burst: 20) --> URLSessionLoader()
/// request.isRateLimited = false  // goes by, and takes no token
/// ```
///
/// A request that is cancelled while it waits completes with ``HTTPError/Code/cancelled``, takes no token, and the next
/// loader never sees it. After a ``Retry``, each attempt takes a token.
///
/// Copies share the bucket. Of a value that is twice in a chain, the first one counts.
public struct RateLimit: HTTPLink {
    private let gate: RateLimitGate

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: The number of requests passed on per second in the long run. Zero, a negative number or
    ///     NaN lets only the burst pass.
    ///   - burst: The number of requests that may be passed on at once after an idle time; at least 1.
    ///   - clock: The clock by which the time is measured; a manual one in tests.
    public init(requestsPerSecond: Double, burst: Int = 1, clock: any Clock<Duration> = ContinuousClock()) {
        gate = RateLimitGate(RateLimitStateMachine(requestsPerSecond: requestsPerSecond, burst: burst), clock)
    }

    /// The number of waiting requests.
    public var waitingCount: Int { gate.waitingCount }

    /// Passes the task on as soon as there is a token for it.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        guard task.request.isRateLimited else { return task.pass(to: next) }
        if task.failIfCancelled() { return }
        gate.enter(task, next: next)
    }
}

extension RateLimit: ArrangedLink {
    package var sharedState: AnyObject? { gate }
}

extension HTTPRequest {
    /// A Boolean value that indicates whether ``RateLimit`` counts this request and makes it wait; true by default.
    public var isRateLimited: Bool {
        get { self[RateLimitedOption.self] }
        set { self[RateLimitedOption.self] = newValue }
    }
}

private enum RateLimitedOption: HTTPRequestOption {
    static let defaultValue = true
}
