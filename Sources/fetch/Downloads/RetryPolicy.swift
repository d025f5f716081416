import Deferred

/// How often a download is tried, and how long it waits in between.
struct RetryPolicy: Equatable {
    static let standard = RetryPolicy(attempts: 5, firstDelay: .milliseconds(250), longestDelay: .seconds(8))

    /// All attempts, the first one included.
    let attempts: Int

    let firstDelay: Duration
    let longestDelay: Duration

    /// The wait after an attempt has failed, counted from 1: twice as long after each. Nil when that was the last one.
    func delay(afterAttempt attempt: Int) -> Duration? {
        guard attempt < attempts else { return nil }
        return ExponentialBackoff(base: firstDelay, cap: longestDelay).limit(after: attempt)
    }
}
