public import DeferredCore

extension Task {
    /// Calls `body` with the progress of the task: now, after changes, and a last time at the end.
    ///
    /// Calls never overlap. If reports arrive faster than the executor takes them, only the newest is delivered. The
    /// last call has a fraction of 1 if the task has succeeded, and otherwise the last fraction it reached.
    ///
    /// ```swift
    /// download.uponProgress(on: .main) { bar.fraction = $0.fraction }
    /// ```
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `body`. With `.immediate`, that is the thread that reports.
    ///   - body: Kept until the task ends, or until the handler is taken back. Until then, the task is kept, too, as if
    ///     by somebody who could still cancel it. If its cancellation handler refers to the task or its future, a task
    ///     whose producer is lost, unless that was a ``Promise``, stays in memory.
    /// - Returns: A registration that takes the handler back. It never starts afterwards.
    /// - Complexity: The first observer costs O(*n*) in the number of tasks that this one is made of, and each further one
    ///   O(1), as taking one back does. Then a report or an end costs O(*d*) in the number of tasks that lie between it
    ///   and this one, however many others there are.
    @discardableResult
    public func uponProgress(
        on executor: some Executor,
        execute body: @escaping @Sendable (ProgressSnapshot) -> Void
    ) -> Registration {
        observeProgress(on: executor, clock: ContinuousClock()) { snapshot, _ in body(snapshot) }
    }

    /// Calls `body` on the main actor with the progress of the task. See ``uponProgress(on:execute:)-(Executor,_)``.
    @discardableResult
    public func uponProgress(
        on executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable (ProgressSnapshot) -> Void
    ) -> Registration {
        uponProgress(on: .main) { snapshot in MainActor.assumeIsolated { body(snapshot) } }
    }

    /// - Parameters:
    ///   - clock: The clock that measures the throughput.
    ///   - body: Called with true for the last snapshot.
    package func observeProgress(
        on executor: some Executor,
        clock: some Clock<Duration>,
        _ body: @escaping @Sendable (ProgressSnapshot, _ isLast: Bool) -> Void
    ) -> Registration {
        ProgressObserver(handle, executor, clock) { body($0, $2) }.start(until: storage)
    }
}
