public import DeferredCore

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
    /// How the future finds this control at its end.
    @usableFromInline package let owner = BackReference()
    private let state: Lock<State>

    fileprivate struct State: Sendable {
        var machine: CancellationStateMachine<TaskTarget>
        var watchers: Watchers?
        weak var progress: TaskProgress?
        /// Where this waits for a cancellation; taken back at the end.
        var registrations: [Registration] = []
    }

    init(_ target: TaskTarget, _ work: TaskWork, upstream: TaskControl?, handlers: [@Sendable () -> Void] = []) {
        self.upstream = upstream
        self.work = work
        state = Lock(State(machine: CancellationStateMachine(target, handlers: handlers)))
        owner.tie(to: self)
    }

    deinit {
        // First of all, and also after the end: whoever notes that may still be at it.
        owner.cut()
        let (target, registrations) = state.withLock { ($0.machine.target, $0.registrations) }
        target?.unregister()
        for registration in registrations { registration.cancel() }
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

    /// Lets `token` cancel this task, until it ends or nobody is left who holds it.
    func cancel(when token: CancellationToken) {
        let registration = token.register { [weak self] in self?.cancel() }
        let isKept = state.withLock { state in
            guard state.machine.target?.isFinished == false else { return false }
            state.registrations.append(registration)
            return true
        }
        if !isKept { registration.cancel() }
    }

    /// What the end of a task sets free. Let go of it outside of any lock.
    struct Remains: Sendable {
        private let state: CancellationStateMachine<TaskTarget>.State
        private let work: TaskWork
        private let watchers: Watchers?
        private let registrations: [Registration]

        fileprivate init(_ state: inout State, _ work: TaskWork) {
            self.state = state.machine.end()
            self.work = work
            watchers = state.watchers.take()
            registrations = state.registrations
            state.registrations = []
        }

        func release() {
            for registration in registrations { registration.cancel() }
            work.end()
            watchers?.notify()
        }
    }

    /// Notes that the task has ended.
    func end() -> Remains {
        state.withLock { Remains(&$0, work) }
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
