extension FutureProtocol {
    /// A future of the same value, that long after it is there.
    ///
    /// For pauses between attempts, for time limits (`[answer, fallback.delay(for: .seconds(3))].firstFilled()`), and for
    /// tests of what has to cope with slowness.
    ///
    /// - Parameters:
    ///   - duration: From the moment this future is filled, or from now if it is. Zero or less still leaves the thread;
    ///     2³² seconds (136 years) or more never end.
    ///   - clock: What measures it. By default, one that also runs while the machine is asleep. A clock that refuses to
    ///     sleep ends the delay at once.
    /// - Returns: A future that is filled on a background thread.
    /// - Complexity: O(log n) for n timers that run at the time, and no thread is blocked. On a clock other than
    ///   `ContinuousClock`, the pause is a suspended task.
    ///
    /// Until this future is filled, it keeps the result; during the pause, the clock keeps the value and the result.
    /// Dropping the result does not cut the pause short.
    public func delay(for duration: Duration, clock: some Clock<Duration> = ContinuousClock()) -> Future<Value> {
        let result = FutureStorage<Value>()
        upon(.immediate) { value in
            _ = ClockTimer(after: duration, clock: clock) { result.fulfil(with: value) }
        }
        return Future(result)
    }
}
