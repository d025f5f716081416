public import DeferredCore

/// The consumer's side of a task: what `cancel()` and `progress` act on.
///
/// References run from consumers to producers only: a control keeps the control of the task it was derived from, and a
/// future keeps no control. Nor does a control keep its future: handlers behind that may keep the control. So a
/// cancellation handler may refer to the future that it fills without making a cycle: when nobody is left who could cancel,
/// the control goes, and the handlers with it; and when nobody is left who could fill, the future goes.
///
/// SAFETY: `unmanagedUpstream` changes only while deinitialising; everything else is immutable or atomic.
@usableFromInline
package final class TaskControl: @unchecked Sendable {
    /// With a reference.
    @exclusivity(unchecked)
    private var unmanagedUpstream: Unmanaged<TaskControl>?
    @usableFromInline let work: TaskWork
    private let future: UnownedFuture
    /// Whether the future is an operator's result, which ends at once if its closure has not begun.
    private let isStage: Bool
    /// Whether this is one consumer of a shared task.
    private let isShared: Bool
    /// Whether this is one of several that `upstream` is shared by.
    private let isConsumer: Bool
    /// Tells of the end, where the future has no room for who is told; taken back when nobody is left who could cancel.
    private let notice: Registration?
    /// What is shared with the future; most never need it.
    private let shared = Attachment()

    /// - Parameters:
    ///   - words: Those of `future`.
    ///   - isStage: Whether the future is an operator's result.
    ///   - notice: Keeps the attachment among the words, unless the future does.
    ///   - upstream: The task that this is derived from; `nil` for one that was made with its result.
    ///   - onCancel: Asks whoever fills the future to stop.
    @usableFromInline
    init(
        _ future: __shared FutureNode,
        _ words: UnownedFuture.Words,
        _ work: TaskWork,
        isStage: Bool = false,
        notice: EndNotice? = nil,
        upstream: __shared TaskControl? = nil,
        onCancel: (@Sendable () -> Void)? = nil
    ) {
        isShared = work.isShared
        var isConsumer = isShared
        if let upstream {
            unmanagedUpstream = .passRetained(upstream)
            if upstream.isShared { isConsumer = true }
        }
        self.isConsumer = isConsumer
        // What is kept for the end has to be there in time.
        let needsState = onCancel != nil || work.hasChildren
        self.work = work
        self.future = UnownedFuture(future, words)
        self.isStage = isStage
        self.notice = notice.map { Registration($0) }
        if needsState { _ = makeState(onCancel) }
        if isConsumer { self.upstream?.state.addConsumer(self, self.future) }
    }

    deinit {
        notice?.cancel()
        existingState?.letGo()
        if isConsumer, let upstream, upstream.state.dropConsumer(self) { upstream.cancel() }
        // One by one, for a chain of a million tasks would overflow the stack.
        var next = unmanagedUpstream
        while let control = next {
            next = control.isSole ? control._withUnsafeGuaranteedRef { $0.unmanagedUpstream.take() } : nil
            control.release()
        }
    }

    /// The task that this is derived from.
    var upstream: TaskControl? { unmanagedUpstream?.takeUnretainedValue() }

    /// What is shared with the future, unless nobody has needed it.
    private var existingState: TaskState? {
        shared.object.map { unsafeDowncast($0, to: TaskState.self) }
    }

    /// What is shared with the future, made now if nobody has needed it.
    @usableFromInline
    package var state: TaskState { existingState ?? makeState() }

    private func makeState(_ handler: (@Sendable () -> Void)? = nil) -> TaskState {
        let state = TaskState(work, handler: handler)
        // Before the future has it, which may not be there to give it to others.
        guard shared.attach(state) else { return self.state }
        // One that is gone has ended, or will never.
        if !future.attach(state), future.isFinished { state.end() }
        return state
    }

    /// The tasks that this one has started, or was made of.
    var children: ChildTasks? {
        if case .children(let children) = work { children } else { nil }
    }

    /// Whether somebody has asked the task to stop before its end.
    var isCancelled: Bool { existingState?.isCancelled ?? false }

    /// Whether nobody has registered anything with the cancellation of the task.
    var isPlain: Bool { existingState?.isPlain ?? true }

    /// Whether the task has ended.
    var isEnded: Bool {
        future.isFinished || existingState?.isEnded ?? false
    }

    /// Whether the task has ended otherwise than by a failure.
    var isDone: Bool { future.hasSucceeded }

    /// A token that is cancelled with the task, until its end.
    func token() -> CancellationToken {
        future.isFinished ? .none : state.token()
    }

    /// Asks this task to stop, then those it has started, and then those it was derived from.
    package func cancel() {
        guard let cancellation = beginCancelling() else { return }
        func stop() { self.stop(cancellation) }
        if Trampoline.nest(stop) == nil { Trampoline.putOff(stop) }
    }

    /// Notes that the task is to stop. Returns what that comes to, the first time before the end.
    private func beginCancelling() -> TaskState.Cancellation? {
        future.isFinished ? nil : state.cancel()
    }

    private func stop(_ first: TaskState.Cancellation) {
        var (current, cancellation) = (self, first)
        var pending: [TaskControl] = []
        // In a loop, for chains may be long and children deep.
        while true {
            // First the stage, so that it fails by itself and not with what its upstream makes of the request.
            if current.isStage { current.future.abandon() }
            cancellation.callHandlers()
            current.state.progress?.update()
            let children = current.work.cancel()
            if let upstream = current.upstreamToCancel() { pending.append(upstream) }
            if !children.isEmpty { pending += children.reversed() }
            repeat {
                guard let next = pending.popLast() else { return }
                guard let more = next.beginCancelling() else { continue }
                (current, cancellation) = (next, more)
                break
            } while true
        }
    }

    /// What this was derived from, unless that has other consumers that still want it.
    private func upstreamToCancel() -> TaskControl? {
        guard let upstream else { return nil }
        guard isConsumer else { return upstream }
        return upstream.state.cancelConsumer(self) ? upstream : nil
    }

    /// Lets `token` cancel this task, until it ends or nobody is left who holds it.
    func cancel(when token: CancellationToken) {
        let control = UnownedReference(self)
        state.takeBackAtEnd(token.register { control.strong?.cancel() })
    }
}
