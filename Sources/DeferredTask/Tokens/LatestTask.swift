public import DeferredCore

/// Runs one task at a time, the latest, and delivers only the result of that task, as in search-as-you-type.
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
/// A superseded result is never delivered, even if it had already arrived and its delivery waited for the executor.
/// Releasing this object does not stop the running task; its result is still delivered.
public final class LatestTask<Success: Sendable>: Cancellable {
    private struct Current: Sendable {
        let task: Task<Success>
        let delivery: Registration

        /// Stops the delivery first, so that the cancellation itself is not delivered.
        func stop() {
            delivery.cancel()
            task.cancel()
        }
    }

    private let machine = Lock(LatestTaskStateMachine<Current>())

    /// Creates an object that runs no task.
    public init() {}

    /// Cancels the previous task, and delivers the result of this one unless it is superseded in turn.
    ///
    /// - Parameters:
    ///   - task: A task that was already started. Kept until it ends or is superseded.
    ///   - executor: The executor that runs `deliver`. If this is called on the same serial executor, then nothing
    ///     superseded is delivered after this returns; otherwise a delivery that had begun on another thread may still
    ///     be under way.
    ///   - deliver: Called at most once.
    public func start(
        _ task: Task<Success>,
        on executor: some Executor,
        deliver: @escaping @Sendable (Task<Success>.Result) -> Void
    ) {
        let (number, previous) = machine.withLock { $0.start() }
        previous?.stop()
        let delivery = task.upon(executor) { [weak self] result in
            // Once this object is gone, nothing can supersede the result.
            if self?.mayDeliver(number) ?? true { deliver(result) }
        }
        machine.withLock { $0.started(number, Current(task: task, delivery: delivery)) }?.stop()
    }

    /// Cancels the previous task, and delivers the result of this one on the main actor. See
    /// ``start(_:on:deliver:)-(_,Executor,_)``.
    @MainActor
    public func start(
        _ task: Task<Success>,
        on executor: MainActorExecutor,
        deliver: @escaping @MainActor @Sendable (Task<Success>.Result) -> Void
    ) {
        start(task, on: .main) { result in MainActor.assumeIsolated { deliver(result) } }
    }

    /// Cancels the running task. Its result is not delivered.
    public func cancel() {
        machine.withLock { $0.cancel() }?.stop()
    }

    /// Returns whether to deliver a result, and releases its task. Called when the delivery begins.
    private func mayDeliver(_ number: UInt64) -> Bool {
        // The task that ended is released outside of the lock.
        let (mayDeliver, _) = machine.withLock { $0.deliver(number) }
        return mayDeliver
    }
}
