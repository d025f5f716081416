public import DeferredCore

/// The consumer's side of a task: what `cancel()` and `progress` act on.
///
/// References run from consumers to producers only: a control keeps the control of the task it was derived from, and a
/// future keeps no control. Nor does a control keep its future: handlers behind that may keep the control. So a
/// cancellation handler may refer to the future that it fills without making a cycle: when nobody is left who could cancel,
/// the control goes, and the handlers with it; and when nobody is left who could fill, the future goes.
///
/// SAFETY: `upstream` changes only while deinitialising; everything else is immutable or locked.
@usableFromInline
package final class TaskControl: @unchecked Sendable {
    @exclusivity(unchecked)
    @usableFromInline private(set) var upstream: TaskControl?
    @usableFromInline let work: TaskWork
    private let link: Lock<Link>

    /// The way to what is shared with the future.
    private struct Link: Sendable {
        /// Made for the first who cancels, registers, or watches; most stages never need it.
        var state: TaskState?
        /// An operator's result, until there is a state.
        weak var stage: FutureNode?
    }

    /// For a task whose future somebody else fills, and that has to be told of the end.
    ///
    /// - Parameter isPromised: Whether the future is certain to be filled.
    @usableFromInline
    init(root: FutureNode, isPromised: Bool, _ work: TaskWork, _ onCancel: (@Sendable () -> Void)?) {
        let target = isPromised ? TaskTarget.root(root) : .foreign(TaskTarget.Weak(future: root))
        link = Lock(Link(state: TaskState(target, work, handler: onCancel)))
        self.work = work
    }

    /// For the result of a Swift task.
    @usableFromInline
    init(_ storage: FutureNode, _ task: _Concurrency.Task<Void, Never>) {
        work = .running(task)
        // Now, for what is made later would have to keep the storage, and with it the result.
        link = Lock(Link(state: .attached(to: storage, .root(storage), .running(task))))
    }

    /// For the result of an operator.
    @usableFromInline
    init(stage: FutureNode, _ work: TaskWork, upstream: TaskControl?) {
        self.upstream = upstream
        self.work = work
        link = Lock(Link(stage: stage))
        if let upstream, isConsumer(of: upstream) { upstream.state.addConsumer(self, stage) }
    }

    deinit {
        existingState?.letGo()
        if let upstream, isConsumer(of: upstream), upstream.state.dropConsumer(self) { upstream.cancel() }
        // One by one, for a chain of a million tasks would overflow the stack.
        while var next = upstream.take() {
            guard isKnownUniquelyReferenced(&next) else { return }
            upstream = next.upstream.take()
        }
    }

    /// What is shared with the future, made now if nobody has needed it.
    @usableFromInline
    package var state: TaskState {
        let (state, stage) = link.withLock { ($0.state, $0.stage) }
        if let state { return state }
        // A stage that is gone has ended, or will never.
        let target = TaskTarget.stage(TaskTarget.Weak(future: stage))
        let new = stage.map { TaskState.attached(to: $0, target, work) } ?? TaskState(target, work)
        return link.withLock { link in
            let state = link.state ?? new
            link.state = state
            return state
        }
    }

    /// The same, unless nobody has needed it.
    private var existingState: TaskState? {
        let (state, stage) = link.withLock { ($0.state, $0.stage) }
        return state ?? stage?.attached.map { unsafeDowncast($0, to: TaskState.self) }
    }

    /// The tasks that this one has started, or was made of.
    var children: ChildTasks? {
        if case .children(let children) = work { children } else { nil }
    }

    /// Whether somebody has asked the task to stop before its end.
    var isCancelled: Bool { existingState?.isCancelled ?? false }

    /// Whether nobody has registered anything with the cancellation of the task.
    var isPlain: Bool { existingState?.isPlain ?? true }

    /// Whether the task has ended. One whose future is gone has, as far as anybody can tell.
    var isEnded: Bool {
        let (state, stage) = link.withLock { ($0.state, $0.stage) }
        return state?.isEnded ?? stage?.isFinished ?? true
    }

    /// Whether the task has ended otherwise than by a failure that is known of.
    var isDone: Bool {
        let (state, stage) = link.withLock { ($0.state, $0.stage) }
        if let state { return state.isDone }
        return stage.map { $0.isFinished && !$0.hasFailed } ?? true
    }

    /// Asks this task to stop, then those it has started, and then those it was derived from.
    package func cancel() {
        guard let cancellation = state.cancel() else { return }
        func stop() { self.stop(cancellation) }
        if Trampoline.nest(stop) == nil { Trampoline.putOff(stop) }
    }

    private func stop(_ first: TaskState.Cancellation) {
        var (current, cancellation) = (self, first)
        var pending: [TaskControl] = []
        // In a loop, for chains may be long and children deep.
        while true {
            // First the target, so that a stage fails by itself and not with what its upstream makes of the request.
            cancellation.target.stop()
            for handler in cancellation.handlers { handler() }
            current.state.progress?.update()
            let children = current.work.cancel()
            if let upstream = current.upstreamToCancel() { pending.append(upstream) }
            pending += children.reversed()
            repeat {
                guard let next = pending.popLast() else { return }
                guard let more = next.state.cancel() else { continue }
                (current, cancellation) = (next, more)
                break
            } while true
        }
    }

    /// What this was derived from, unless that has other consumers that still want it.
    private func upstreamToCancel() -> TaskControl? {
        guard let upstream else { return nil }
        guard isConsumer(of: upstream) else { return upstream }
        return upstream.state.cancelConsumer(self) ? upstream : nil
    }

    /// Whether this is one of several that `upstream` is shared by.
    @usableFromInline
    func isConsumer(of upstream: TaskControl) -> Bool { work.isShared || upstream.work.isShared }

    /// Lets `token` cancel this task, until it ends or nobody is left who holds it.
    func cancel(when token: CancellationToken) {
        state.takeBackAtEnd(token.register { [weak self] in self?.cancel() })
    }
}
