internal import DeferredCore

extension Task {
    /// Returns a task that ends as this one does, or fails with ``TimeoutError`` and cancels this one if it has not
    /// ended in time.
    ///
    /// A producer that ignores the cancellation is not waited for, but this task's cancellation handlers have returned when
    /// the new task fails. If somebody cancels the new task while they run, its own handlers are called, too, and it still
    /// fails with ``TimeoutError``.
    ///
    /// - Parameters:
    ///   - duration: From now. If the task has not ended, zero or less fails it as soon as possible, on another thread;
    ///     2³² seconds (136 years) or more never do.
    ///   - clock: The clock that measures `duration`. By default, one that also runs while the machine is asleep.
    /// - Returns: A task whose cancellation cancels this one, and ends it at once with `CancellationError`. Until its end,
    ///   the timer keeps it and this task, even if nobody else does.
    public func timeout(after duration: Duration, clock: some Clock<Duration> = ContinuousClock()) -> Task {
        if isFilled { return self }
        let task = derive(ImmediateExecutor(), TaskPassing(), .passing)
        // Released at the end of the task.
        _ = ClockTimer(after: duration, clock: clock, unless: task.storage) {
            guard task.storage.claim() else { return }
            task.handle?.cancelUpstream()
            task.storage.abandon(with: .failure(TimeoutError(duration: duration)))
        }
        return task
    }
}

/// The error of a task that has not ended in time. See ``Task/timeout(after:clock:)``.
public struct TimeoutError: Error, Hashable, CustomStringConvertible {
    /// The time that the task was given.
    public let duration: Duration

    /// Creates an error.
    public init(duration: Duration) {
        self.duration = duration
    }

    /// One line for a log.
    public var description: String { "the task did not end within \(duration)" }
}
