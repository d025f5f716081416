import Synchronization

/// The result of a Swift task, for one waiter who passes the priority and the cancellation on.
///
/// SAFETY: the value and the continuation belong to the winner of the atomic operations around them.
final class FloorResult: @unchecked Sendable {
    private enum State {
        static let none = 0
        static let waiting = 1
        static let filled = 2
    }

    private let state = Atomic(State.none)
    @exclusivity(unchecked)
    private var content = 0
    @exclusivity(unchecked)
    private var continuation: UnsafeContinuation<Int, Never>?

    func fill(_ value: Int) {
        content = value
        guard state.exchange(State.filled, ordering: .acquiringAndReleasing) == State.waiting else { return }
        continuation?.resume(returning: value)
    }

    /// Waits as `Task.value` does.
    nonisolated(nonsending) func value(of task: Task<Void, Never>) async -> Int {
        await withTaskPriorityEscalationHandler {
            task.escalatePriority(to: Task<Never, Never>.currentPriority)
            return await withUnsafeContinuation { wait($0) }
        } onPriorityEscalated: { _, priority in
            task.escalatePriority(to: priority)
        }
    }

    /// Waits as `Task.get()` does.
    nonisolated(nonsending) func get(from task: Task<Void, Never>) async -> Int {
        await withTaskCancellationHandler {
            await value(of: task)
        } onCancel: {
            task.cancel()
        }
    }

    private func wait(_ waiter: UnsafeContinuation<Int, Never>) {
        continuation = waiter
        let (isWaiting, _) = state.compareExchange(
            expected: State.none,
            desired: State.waiting,
            ordering: .acquiringAndReleasing
        )
        if !isWaiting { waiter.resume(returning: content) }
    }
}
