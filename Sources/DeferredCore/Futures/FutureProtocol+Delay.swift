extension FutureProtocol {
    /// Returns a future of the same value that is filled with a delay.
    ///
    /// Use it for pauses between attempts, for testing code that has to cope with slowness, and for time limits:
    /// `[answer, fallback.delay(for: .seconds(3))].firstFilled()`.
    ///
    /// - Parameters:
    ///   - duration: The time from the moment this future is filled, or from now if it is already filled. Even with
    ///     zero or less, the result is filled on another thread; 2³² seconds (136 years) or more never end.
    ///   - clock: The clock that measures the delay. By default, one that also runs while the machine is asleep. If the
    ///     clock's `sleep` throws, the delay ends at once.
    /// - Returns: A future that is filled on a background thread.
    /// - Complexity: O(log n) for n running timers, and no thread is blocked. On a clock other than `ContinuousClock`,
    ///   the delay is a suspended task.
    ///
    /// Until this future is filled, it retains the result; during the delay, the clock retains the value and the
    /// result. Dropping the result does not shorten the delay.
    public func delay(for duration: Duration, clock: some Clock<Duration> = ContinuousClock()) -> Future<Value> {
        let result = FutureStorage<Value>()
        upon(.immediate) { value in
            // A future of somebody else's may call this twice.
            _ = ClockTimer(after: duration, clock: clock) { _ = result.fill(with: value) }
        }
        return Future(result)
    }
}
