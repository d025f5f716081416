public import DeferredCore

extension Task {
    /// Calls `body` with how far the task is: now, after changes, and a last time at the end.
    ///
    /// One call comes after the other, never two at a time. Where reports come faster than the executor takes them, the
    /// newest wins. The last call has a fraction of 1 if the task has succeeded, and otherwise tells how far it came.
    ///
    /// ```swift
    /// download.uponProgress(on: .main) { bar.fraction = $0.fraction }
    /// ```
    ///
    /// - Parameters:
    ///   - executor: Where `body` runs. With `.immediate`, that is the thread that reports.
    ///   - body: Kept until the task ends, or until it is taken back; until then the task is kept, too, as by somebody who
    ///     could still cancel it.
    /// - Returns: What takes the handler back. It never starts afterwards.
    /// - Complexity: Each call O(*n*) in the number of tasks that this one is made of. Reports that find a delivery on its
    ///   way cost O(1).
    @discardableResult
    public func uponProgress(
        on executor: some Executor,
        execute body: @escaping @Sendable (ProgressSnapshot) -> Void
    ) -> Registration {
        observeProgress(on: executor, clock: ContinuousClock(), body)
    }

    /// Calls `body` on the main actor with how far the task is. See ``uponProgress(on:execute:)-(Executor,_)``.
    @discardableResult
    public func uponProgress(
        on executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable (ProgressSnapshot) -> Void
    ) -> Registration {
        uponProgress(on: .main) { snapshot in MainActor.assumeIsolated { body(snapshot) } }
    }

    /// - Parameter clock: Measures the throughput.
    package func observeProgress<E: Executor>(
        on executor: E,
        clock: some Clock<Duration>,
        _ body: @escaping @Sendable (ProgressSnapshot) -> Void
    ) -> Registration {
        let observer = ProgressObserver(control, executor, clock, body)
        let lease = ProgressObserver<E>.Lease(observer)
        let registration = storage.upon(executor) { result in
            lease.observer.end(hasSucceeded: (try? result.get()) != nil)
        }
        observer.changed()
        return registration
    }
}
