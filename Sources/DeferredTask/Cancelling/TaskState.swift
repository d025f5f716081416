internal import DeferredCore

/// What the two sides of a task share: its control, which cancels, and its future, which ends.
///
/// Both keep it, and whichever is done first empties it: the future at its end, or the control when nobody is left who
/// could cancel. So the handlers never outlive their use, although they may refer to the future that keeps this.
@usableFromInline
package final class TaskState: Sendable {
    private struct State: Sendable {
        var machine: CancellationStateMachine<TaskTarget>
        var work: TaskWork
        var watchers: Watchers?
        weak var progress: TaskProgress?
        /// Where this waits for something; taken back at the end.
        var registrations: [Registration] = []
        /// Consumers of a shared task that have not cancelled.
        var consumers = 0
        /// Where handlers wait that were added later; made for the first of them.
        var cancellation: FutureStorage<CancellationToken.Ending>?

        /// Notes the end. Returns all that was kept, to be let go outside of the lock.
        mutating func empty() -> Contents {
            let contents = Contents(
                machine: machine.end(),
                work: work,
                watchers: watchers,
                registrations: registrations,
                cancellation: cancellation
            )
            work = .opaque
            watchers = nil
            registrations = []
            cancellation = nil
            return contents
        }
    }

    private struct Contents: Sendable {
        let machine: CancellationStateMachine<TaskTarget>.State
        let work: TaskWork
        let watchers: Watchers?
        let registrations: [Registration]
        let cancellation: FutureStorage<CancellationToken.Ending>?
    }

    private let state: Lock<State>

    init(_ target: TaskTarget, _ work: TaskWork, handlers: [@Sendable () -> Void]) {
        state = Lock(State(machine: CancellationStateMachine(target, handlers: handlers), work: work))
    }

    /// What an operator's stage calls at its end, with what is attached to it.
    @usableFromInline
    static func end(_ attached: AnyObject) {
        unsafeDowncast(attached, to: TaskState.self).end()
    }

    /// Notes the end of the future.
    func end() {
        letGo().end()
    }

    /// Lets go of everything, outside of the lock. The first time counts.
    ///
    /// - Returns: What the future was worked at by.
    @discardableResult
    func letGo() -> TaskWork {
        let old = state.withLock { $0.empty() }
        _ = old.cancellation?.fillNewestFirst(with: .abandoned)
        for registration in old.registrations { registration.cancel() }
        old.watchers?.notify()
        return old.work
    }

    var isCancelled: Bool { state.withLock { $0.machine.isCancelled } }

    var isEnded: Bool { state.withLock { $0.machine.target }?.isFinished ?? true }

    /// Asks to stop. The first time before the end, returns what has to be stopped.
    func cancel() -> CancellationStateMachine<TaskTarget>.Cancellation? {
        let (result, cancellation) = state.withLock { ($0.machine.cancel(), $0.cancellation) }
        guard let result else { return nil }
        guard let cancellation else { return result }
        // Newer than those that the task was made with, which come last.
        let handlers = [{ _ = cancellation.fillNewestFirst(with: .cancelled) }] + result.handlers
        return .init(target: result.target, handlers: handlers)
    }

    /// A token that is cancelled with the task, until its end.
    func token() -> CancellationToken {
        let cancellation: FutureStorage<CancellationToken.Ending>? = state.withLock { state in
            guard state.machine.target != nil else { return nil }
            if state.machine.isCancelled { return FutureStorage(filledWith: .cancelled) }
            let cancellation = state.cancellation ?? FutureStorage()
            state.cancellation = cancellation
            return cancellation
        }
        return CancellationToken(cancellation)
    }

    /// Keeps `registration` until the end; cancels it if that has come.
    func takeBackAtEnd(_ registration: Registration) {
        let isKept = state.withLock { state in
            guard state.machine.target != nil else { return false }
            state.registrations.append(registration)
            return true
        }
        if !isKept { registration.cancel() }
    }

    /// Counts one more consumer of a shared task.
    func addConsumer() {
        state.withLock { $0.consumers += 1 }
    }

    /// Counts out a consumer that has cancelled; true if none is left.
    func removeConsumer() -> Bool {
        state.withLock { state in
            state.consumers -= 1
            return state.consumers == 0
        }
    }

    /// Calls `body` when the task ends.
    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch? {
        let watchers: Watchers? = state.withLock { state in
            guard state.machine.target != nil else { return nil }
            if state.watchers == nil { state.watchers = Watchers() }
            return state.watchers
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
