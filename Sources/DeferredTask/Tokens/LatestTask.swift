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
    /// Stops the latest delivery and its task; `nil` once that was delivered or stopped.
    private let latest = Lock<CancellationTokenSource?>(nil)

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
        start(superseding: { task }, on: executor, deliver: deliver)
    }

    /// Cancels the previous task, and delivers the result of the one that `make` returns.
    ///
    /// - Parameter make: Called with the previous task superseded. What it starts may already start another task here on
    ///   another thread, or cancel: that comes later, and supersedes this one.
    func start(
        superseding make: () -> Task<Success>,
        on executor: some Executor,
        deliver: @escaping @Sendable (Task<Success>.Result) -> Void
    ) {
        let source = CancellationTokenSource()
        supersede(with: source)
        let task = make()
        let delivery = task.upon(executor) { [weak self, weak source] result in
            // Once this object is gone, nothing can supersede the result.
            if self?.mayDeliver(source) ?? true { deliver(result) }
        }
        // Called now if the task was superseded meanwhile. Stops the delivery first, so that the cancellation itself is
        // not delivered.
        source.token.register {
            delivery.cancel()
            task.cancel()
        }
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
        supersede(with: nil)
    }

    private func supersede(with new: CancellationTokenSource?) {
        let previous = latest.withLock { latest in
            defer { latest = new }
            return latest
        }
        previous?.cancel()
    }

    /// Returns whether `source` is that of the latest task, and releases that task. Called when its delivery begins.
    private func mayDeliver(_ source: CancellationTokenSource?) -> Bool {
        // Released outside of the lock.
        let delivered = latest.withLock { latest in source === latest ? latest.take() : nil }
        return delivered != nil
    }
}
