internal import DeferredCore

extension Task {
    /// Returns a task that ends as this one does, `duration` later.
    ///
    /// - Parameters:
    ///   - duration: From the end of this task. Even zero or less changes the thread; 2³² seconds (136 years) or more
    ///     never end.
    ///   - clock: The clock that measures `duration`. By default, one that also runs while the machine is asleep.
    /// - Returns: A task whose cancellation cancels this one, and ends it at once with `CancellationError`.
    public func delay(for duration: Duration, clock: some Clock<Duration> = ContinuousClock()) -> Task {
        let combination = Combination<Success>(expected: 1)
        let task = combination.task(endsAtOnce: true)
        combination.add(self) { result in
            combination.keep(ClockTimer(after: duration, clock: clock) { combination.end(with: result) })
        }
        return task
    }
}
