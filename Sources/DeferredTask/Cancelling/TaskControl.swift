internal import DeferredCore

/// The consumer's side of a task: what `cancel()` and `progress` act on.
///
/// References run from consumers to producers only. A control keeps the control of the task it was derived from; a
/// future knows its control by a `BackReference` alone. So a cancellation handler may refer to the future that it fills
/// without making a cycle: when nobody is left who could cancel, the handlers go.
///
/// SAFETY: `upstream` changes only while deinitialising; everything else is immutable or locked.
@usableFromInline
package final class TaskControl: @unchecked Sendable {
    @exclusivity(unchecked)
    private(set) var upstream: TaskControl?
    let work: TaskWork
    private let state: Lock<State>

    private struct State: Sendable {
        var machine: CancellationStateMachine<TaskTarget>
        var watchers: Watchers?
        weak var progress: TaskProgress?
    }

    init(_ target: TaskTarget, _ work: TaskWork, upstream: TaskControl?, handlers: [@Sendable () -> Void] = []) {
        self.upstream = upstream
        self.work = work
        state = Lock(State(machine: CancellationStateMachine(target, handlers: handlers)))
    }

    deinit {
        state.withLock { $0.machine.target }?.disown()
        // One by one, for a chain of a million tasks would overflow the stack.
        while var next = upstream.take() {
            guard isKnownUniquelyReferenced(&next) else { return }
            upstream = next.upstream.take()
        }
    }

    var isCancelled: Bool { state.withLock { $0.machine.isCancelled } }

    /// Whether the task has ended.
    var isEnded: Bool { state.withLock { $0.machine.target }?.isFinished ?? true }

    /// Asks this task to stop, and then those it was derived from.
    package func cancel() {
        var control: TaskControl? = self
        while let current = control {
            guard let cancellation = current.state.withLock({ $0.machine.cancel() }) else { return }
            // First the target, so that a stage fails by itself and not with what its upstream makes of the request.
            cancellation.target.stop()
            for handler in cancellation.handlers { handler() }
            current.work.cancel()
            control = current.upstream
        }
    }

    /// Adds a cancellation handler. Called at once if cancelled, dropped if ended.
    func register(_ handler: @escaping @Sendable () -> Void) {
        if case .call = state.withLock({ $0.machine.register(handler) }) { handler() }
    }

    /// What the end of a task sets free. Let go of it outside of any lock.
    struct Remains: Sendable {
        private let state: CancellationStateMachine<TaskTarget>.State
        private let work: TaskWork
        private let watchers: Watchers?

        fileprivate init(_ state: CancellationStateMachine<TaskTarget>.State, _ work: TaskWork, _ watchers: Watchers?) {
            self.state = state
            self.work = work
            self.watchers = watchers
        }

        func release() {
            work.end()
            watchers?.notify()
        }
    }

    /// Notes that the task has ended.
    func end() -> Remains {
        // All of it under the lock, for the deinitialiser of an ended control waits for nothing else: after the lock,
        // this object may be gone.
        state.withLock { Remains($0.machine.end(), work, $0.watchers.take()) }
    }

    /// Calls `body` whenever the progress of this task alone may have changed, until the task ends.
    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch? {
        let watchers: Watchers? = state.withLock { state in
            guard state.machine.target != nil else { return nil }
            if state.watchers == nil { state.watchers = Watchers() }
            return state.watchers
        }
        return watchers?.add(body)
    }

    /// The progress object that somebody holds, or a new one; `isNew` tells that it was just made.
    func progress() -> (object: TaskProgress, isNew: Bool) {
        if let progress = state.withLock({ $0.progress }) { return (progress, false) }
        let new = TaskProgress(self)
        // Another thread may have come first; its object is the one then.
        let progress = state.withLock { state in
            if state.progress == nil { state.progress = new }
            return state.progress ?? new
        }
        return (progress, progress === new)
    }
}
