public import DeferredCore
internal import Synchronization

/// What the two sides of a task share: its control, which cancels, and its future, which ends.
///
/// Both keep it, and whichever is done first empties it: the future at its end, or the control when nobody is left who
/// could cancel. So the handlers never outlive their use, although they may refer to the future that keeps this.
@usableFromInline
package final class TaskState: Sendable {
    typealias Handler = @Sendable () -> Void

    private struct State: Sendable {
        var machine: CancellationStateMachine<TaskTarget>
        var contents: Contents
        weak var progress: TaskProgress?
        /// Whether the end was a failure, where somebody followed the progress.
        var hasFailed = false
    }

    /// What is let go of at the end.
    private struct Contents: Sendable {
        var children: ChildTasks?
        /// What the task was made with: the oldest of the handlers.
        var handler: Handler?
        /// Where handlers wait that were added later; made for the first of them.
        var cancellation: FutureStorage<CancellationToken.Ending>?
        var watchers: Watchers?
        /// Where this waits for the end.
        var notice: Registration?
        /// Where this waits for something else; taken back at the end.
        var registrations: [Registration] = []
        /// How many registrations there may be before those that are over are let go.
        var pruningCount = 8
        var consumers = TaskConsumers()
    }

    private let state: Lock<State>
    /// The bits of the highest fraction that anybody was told, which are in the order of the fractions.
    private let highestFraction = Atomic(UInt64(0))

    init(_ target: TaskTarget, _ work: TaskWork, handler: Handler? = nil) {
        var contents = Contents(handler: handler)
        if case .children(let children) = work { contents.children = children }
        state = Lock(State(machine: CancellationStateMachine(target), contents: contents))
    }

    /// What is attached to `future`, made now if nothing is.
    static func attached(to future: FutureNode, _ target: TaskTarget, _ work: TaskWork) -> TaskState {
        let state = future.attach { isEnded in
            let state = TaskState(target, work)
            if isEnded { state.letGo() }
            return state
        }
        return unsafeDowncast(state, to: TaskState.self)
    }

    /// What a future calls at its end, with what is attached to it.
    @usableFromInline
    static func end(_ attached: AnyObject) {
        unsafeDowncast(attached, to: TaskState.self).end()
    }

    /// Notes the end of the future.
    @usableFromInline
    func end() {
        letGo()?.end()
    }

    /// Lets go of everything, outside of the lock. The first time counts.
    ///
    /// - Returns: The children of the task.
    @discardableResult
    func letGo() -> ChildTasks? {
        let (machine, contents) = withTarget { state in
            let contents = state.contents
            // Asked only for those who follow, for it takes longer than the rest.
            if contents.watchers != nil { state.hasFailed = state.machine.target?.hasFailed ?? false }
            state.contents = Contents()
            return (state.machine.end(), contents)
        }
        withExtendedLifetime(machine) {}
        contents.notice?.cancel()
        contents.cancellation?.fillDroppingHandlers(with: .abandoned)
        for registration in contents.registrations { registration.cancel() }
        contents.watchers?.notify()
        return contents.children
    }

    var isCancelled: Bool { state.withLock { $0.machine.isCancelled } }

    /// Whether nobody has registered anything that a cancellation calls, or that cancels.
    var isPlain: Bool {
        state.withLock { state in
            state.contents.handler == nil && state.contents.cancellation == nil && state.contents.registrations.isEmpty
        }
    }

    var isEnded: Bool { state.withLock { $0.machine.target }?.isFinished ?? true }

    /// Whether the task has ended otherwise than by a failure that is known of.
    var isDone: Bool {
        let (target, hasFailed) = state.withLock { ($0.machine.target, $0.hasFailed) }
        guard let target else { return !hasFailed }
        return target.isFinished && !target.hasFailed
    }

    /// Notes a fraction, from 0 to 1, that somebody is about to be told.
    ///
    /// - Returns: What to tell, so that nobody sees less than was seen before: the highest so far.
    func raise(to fraction: Double) -> Double {
        Double(bitPattern: highestFraction.max(fraction.bitPattern, ordering: .relaxed).newValue)
    }

    /// What has to be stopped, and the handlers, newest first.
    typealias Cancellation = (target: TaskTarget, handlers: [Handler])

    /// Asks to stop. Returns what that comes to, the first time before the end.
    func cancel() -> Cancellation? {
        withTarget { state in
            guard let target = state.machine.cancel() else { return nil }
            var handlers: [Handler] = []
            if let cancellation = state.contents.cancellation.take() {
                handlers.append { _ = cancellation.fillNewestFirst(with: .cancelled) }
            }
            if let handler = state.contents.handler.take() { handlers.append(handler) }
            return (target, handlers)
        }
    }

    /// Locks, and keeps the future that the body may look at: were it to end under the lock, then what its handlers have
    /// captured would, too.
    private func withTarget<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
        let future = state.withLock { $0.machine.target }?.future
        return withExtendedLifetime(future) { state.withLock { body(&$0) } }
    }

    /// A token that is cancelled with the task, until its end.
    func token() -> CancellationToken {
        let cancellation: FutureStorage<CancellationToken.Ending>? = withTarget { state in
            guard let target = state.machine.target, !target.isFinished else { return nil }
            if state.machine.isCancelled { return FutureStorage(filledWith: .cancelled) }
            let cancellation = state.contents.cancellation ?? FutureStorage()
            state.contents.cancellation = cancellation
            return cancellation
        }
        return CancellationToken(cancellation)
    }

    /// Waits for the end with `notice`; `nil` if it has come.
    @usableFromInline
    func waitForEnd(with notice: Registration?) {
        guard let notice else { return end() }
        let isKept = state.withLock { state in
            if state.machine.target == nil { return false }
            state.contents.notice = notice
            return true
        }
        if !isKept { notice.cancel() }
    }

    /// Keeps `registration` until the end; cancels it if that has come.
    ///
    /// Amortised O(1): lets go of those that are over when they may be half of all.
    func takeBackAtEnd(_ registration: Registration) {
        guard registration.isPending else { return }
        let (isKept, old) = state.withLock { state in
            guard state.machine.target != nil else { return (false, [Registration]()) }
            var old: [Registration] = []
            if state.contents.registrations.count >= state.contents.pruningCount {
                old = state.contents.registrations
                state.contents.registrations.removeAll { !$0.isPending }
                state.contents.pruningCount = max(8, 2 * state.contents.registrations.count)
            }
            state.contents.registrations.append(registration)
            return (true, old)
        }
        withExtendedLifetime(old) {}
        if !isKept { registration.cancel() }
    }

    /// Notes one more consumer of a shared task.
    @usableFromInline
    func addConsumer(_ control: TaskControl, _ future: FutureNode) {
        let seen = state.withLock { state in
            state.machine.target == nil ? [] : state.contents.consumers.add(control, future)
        }
        withExtendedLifetime(seen) {}
    }

    /// Counts out a consumer that has cancelled; true if nobody wants the task any more.
    func cancelConsumer(_ control: TaskControl) -> Bool {
        let (areDone, seen) = state.withLock { state in
            state.contents.consumers.cancel(control)
            return state.contents.consumers.areDone
        }
        return withExtendedLifetime(seen) { areDone }
    }

    /// Notes that nobody holds a consumer any more; true if nobody wants the task, and somebody has cancelled.
    func dropConsumer(_ control: TaskControl) -> Bool {
        let (areDone, seen) = state.withLock { state in
            state.contents.consumers.drop(control)
            return state.contents.consumers.areDone
        }
        return withExtendedLifetime(seen) { areDone }
    }

    /// Calls `body` when the task ends.
    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch? {
        let watchers: Watchers? = state.withLock { state in
            guard state.machine.target != nil else { return nil }
            let watchers = state.contents.watchers ?? Watchers()
            state.contents.watchers = watchers
            return watchers
        }
        return watchers?.add(body)
    }

    /// The progress object that somebody holds.
    var progress: TaskProgress? { state.withLock { $0.progress } }

    /// Shares `new`, unless another thread came first; returns what is shared.
    func share(_ new: TaskProgress) -> TaskProgress {
        state.withLock { state in
            if let progress = state.progress { return progress }
            state.progress = new
            return new
        }
    }
}
