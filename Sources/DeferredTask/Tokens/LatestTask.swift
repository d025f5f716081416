public import DeferredCore

/// Runs one task at a time, the latest, and delivers no result but its own: search as you type.
///
/// ```swift
/// let search = LatestTask<[Item]>()
/// func textChanged(to text: String) {
///     search.start(store.find(text), on: .mainActor) { result in
///         list.items = (try? result.get()) ?? []
///     }
/// }
/// ```
///
/// A superseded result is never delivered, not even if it was there already and its delivery waited for the executor.
/// When this goes, the task that runs goes on, and delivers.
public final class LatestTask<Success: Sendable>: Cancellable {
    private struct Current: Sendable {
        let task: Task<Success>
        let delivery: Registration

        /// First the delivery, so that the cancellation itself is not delivered.
        func stop() {
            delivery.cancel()
            task.cancel()
        }
    }

    private let machine = Lock(LatestTaskStateMachine<Current>())

    /// Creates one that runs nothing.
    public init() {}

    /// Cancels the task before, and delivers the result of this one unless it is superseded in turn.
    ///
    /// - Parameters:
    ///   - task: Started by the caller. Kept until it ends or is superseded.
    ///   - executor: Where `deliver` runs. If this is called on the same serial executor, then nothing superseded is
    ///     delivered after this returns; otherwise a delivery that had begun on another thread may still be under way.
    ///   - deliver: Called at most once.
    public func start(
        _ task: Task<Success>,
        on executor: some Executor,
        deliver: @escaping @Sendable (Task<Success>.Result) -> Void
    ) {
        let (number, previous) = machine.withLock { $0.start() }
        previous?.stop()
        let delivery = task.upon(executor) { [weak self] result in
            // Nothing supersedes what has outlived this.
            if self?.mayDeliver(number) ?? true { deliver(result) }
        }
        machine.withLock { $0.started(number, Current(task: task, delivery: delivery)) }?.stop()
    }

    /// Cancels the task before, and delivers the result of this one on the main actor. See
    /// ``start(_:on:deliver:)-(_,Executor,_)``.
    @MainActor
    public func start(
        _ task: Task<Success>,
        on executor: MainActorExecutor,
        deliver: @escaping @MainActor @Sendable (Task<Success>.Result) -> Void
    ) {
        start(task, on: .main) { result in MainActor.assumeIsolated { deliver(result) } }
    }

    /// Cancels the task that runs. Its result is not delivered.
    public func cancel() {
        machine.withLock { $0.cancel() }?.stop()
    }

    /// Whether a result is to be delivered, which is decided at the beginning of its delivery. Lets go of its task.
    private func mayDeliver(_ number: UInt64) -> Bool {
        // The task that ended is let go outside of the lock.
        let (mayDeliver, _) = machine.withLock { $0.deliver(number) }
        return mayDeliver
    }
}
