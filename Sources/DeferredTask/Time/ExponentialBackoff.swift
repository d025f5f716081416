/// Pauses that double from a base up to a cap.
package struct ExponentialBackoff: Sendable, Equatable {
    private let base: Duration
    private let cap: Duration

    package init(base: Duration, cap: Duration) {
        self.base = base
        self.cap = cap
    }

    /// Returns the longest pause after an attempt, the first being 1.
    ///
    /// - Complexity: O(1): the doubling ends at the cap.
    package func limit(after attempt: Int) -> Duration {
        var limit = min(base, cap)
        var doublings = max(attempt, 1) - 1
        while doublings > 0, limit > .zero, limit < cap {
            // Not `limit * 2 > cap`, which might overflow.
            limit = limit > cap / 2 ? cap : limit * 2
            doublings -= 1
        }
        return limit
    }

    /// Returns a random part of that limit: "full jitter".
    ///
    /// - Parameter part: From 0 to 1; values outside are clamped, and NaN counts as 1.
    /// - Returns: Zero or more.
    package func pause(after attempt: Int, part: Double) -> Duration {
        let limit = max(limit(after: attempt), .zero)
        return part < 1 ? limit * max(part, 0) : limit
    }
}
