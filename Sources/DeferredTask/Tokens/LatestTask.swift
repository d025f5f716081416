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

    private struct State: Sendable {
        /// Counts starts, and cancellations.
        var number: UInt64 = 0
        var running: Current?
        /// The last start whose result was delivered.
        var delivered: UInt64?
    }

    private let state = Lock(State())

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
        let (number, previous) = supersede()
        previous?.stop()
        let delivery = task.upon(executor) { [weak self] result in
            self?.ended(number)
            deliver(result)
        }
        let new = Current(task: task, delivery: delivery)
        let isLatest = state.withLock { state in
            guard state.number == number else { return false }
            if state.delivered != number { state.running = new }
            return true
        }
        if !isLatest { new.stop() }
    }

    /// Cancels the task before, and delivers the result of this one on the main actor. See ``start(_:on:deliver:)``.
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
        supersede().previous?.stop()
    }

    private func supersede() -> (number: UInt64, previous: Current?) {
        state.withLock { state in
            state.number += 1
            return (state.number, state.running.take())
        }
    }

    /// Lets go of the task that was delivered.
    private func ended(_ number: UInt64) {
        let delivered: Current? = state.withLock { state in
            guard state.number == number else { return nil }
            state.delivered = number
            return state.running.take()
        }
        // Let go outside of the lock.
        withExtendedLifetime(delivered) {}
    }
}
