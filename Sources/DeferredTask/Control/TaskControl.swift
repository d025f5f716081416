public import DeferredCore

/// The consumer's side of a task: what `cancel()` and `progress` act on.
///
/// References run from consumers to producers only: a control keeps the control of the task it was derived from, and a
/// future keeps no control. Nor does a control keep its future, because handlers on the future may keep the control. So
/// a cancellation handler may refer to the future that it fills without making a cycle: when nobody is left who could
/// cancel, the control is released, and the handlers with it; and when nobody is left who could fill, the future is
/// released.
///
/// SAFETY: `unmanagedUpstream` changes only while deinitialising; everything else is immutable or atomic.
@usableFromInline
package final class TaskControl: @unchecked Sendable {
    /// Owns a reference.
    @exclusivity(unchecked)
    private var unmanagedUpstream: Unmanaged<TaskControl>?
    @usableFromInline let work: TaskWork
    private let future: UnownedFuture
    /// True if the future is an operator's result, which ends at once on a cancellation if its closure has not begun.
    private let isStage: Bool
    /// True if this is one consumer of a shared task.
    private let isShared: Bool
    /// True if this is one of the consumers that share `upstream`.
    private let isConsumer: Bool
    /// Tells of the end if the future has no room for an attachment; taken back when nobody is left who could cancel.
    private let notice: Registration?
    /// The state shared with the future; most tasks never need it.
    private let shared = Attachment()

    /// - Parameters:
    ///   - words: The words of `future`.
    ///   - isStage: Whether the future is an operator's result.
    ///   - notice: Keeps the attachment among the words, unless the future does.
    ///   - upstream: The task that this is derived from; `nil` for one that was created with its result.
    ///   - onCancel: Asks the producer to stop.
    @usableFromInline
    init(
        _ future: __shared FutureNode,
        _ words: UnownedFuture.Words,
        _ work: consuming TaskWork,
        isStage: Bool = false,
        notice: consuming EndNotice? = nil,
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
        // Handlers and children have to be known to the future before its end.
        let needsState = onCancel != nil || work.hasChildren
        self.work = work
        self.future = UnownedFuture(future, words)
        self.isStage = isStage
        self.notice = if let notice = consume notice { Registration(notice) } else { nil }
        if needsState { _ = makeState(onCancel) }
        if isConsumer { self.upstream?.state.addConsumer(self, self.future) }
    }

    deinit {
        notice?.cancel()
        existingState?.letGo()
        if isConsumer, let upstream, upstream.state.dropConsumer(self) { upstream.cancel() }
        // Released in a loop, since the recursion of a chain of a million tasks would overflow the stack.
        var next = unmanagedUpstream
        while let control = next {
            next = control.isSole ? control._withUnsafeGuaranteedRef { $0.unmanagedUpstream.take() } : nil
            control.release()
        }
    }

    /// The task that this is derived from.
    var upstream: TaskControl? { unmanagedUpstream?.takeUnretainedValue() }

    /// The state shared with the future, or `nil` if it was not needed yet.
    private var existingState: TaskState? {
        shared.object.map { unsafeDowncast($0, to: TaskState.self) }
    }

    /// The state shared with the future, created on first use.
    @usableFromInline
    package var state: TaskState { existingState ?? makeState() }

    private func makeState(_ handler: (@Sendable () -> Void)? = nil) -> TaskState {
        let state = TaskState(work, handler: handler)
        // Attached here first: the future, which may be gone, can't be relied on to pass it to other threads.
        guard shared.attach(state) else { return self.state }
        // A future that is gone has ended, or never will.
        if !future.attach(state), future.isFinished { state.end() }
        return state
    }

    /// The tasks that this one has started, or was combined from.
    var children: ChildTasks? {
        if case .children(let children) = work { children } else { nil }
    }

    /// True if the task was asked to stop before its end. A Swift task can also be asked by its own code.
    var isCancelled: Bool {
        if let existingState, existingState.isCancelled { return true }
        return if case .running(let task) = work { task.isCancelled } else { false }
    }

    /// True if nothing is registered with the cancellation of the task.
    var isPlain: Bool { existingState?.isPlain ?? true }

    /// True if the task has ended.
    var isEnded: Bool {
        future.isFinished || existingState?.isEnded ?? false
    }

    /// True if the task has ended other than by a failure.
    var isDone: Bool { future.hasSucceeded }

    /// Returns a token that is cancelled with the task, until its end.
    func token() -> CancellationToken {
        future.isFinished ? .none : state.token()
    }

    /// Asks this task to stop, then those it has started, and then those it was derived from.
    package func cancel() {
        guard let cancellation = beginCancelling() else { return }
        func stop() { self.stop(cancellation) }
        if Trampoline.nest(stop) == nil { Trampoline.putOff(stop) }
    }

    /// Notes the request to stop. Returns the handlers to call, the first time before the end.
    private func beginCancelling() -> TaskState.Cancellation? {
        future.isFinished ? nil : state.cancel()
    }

    private func stop(_ first: TaskState.Cancellation) {
        var (current, cancellation) = (self, first)
        var pending: [TaskControl] = []
        // In a loop, since chains may be long and children nested deeply.
        while true {
            // The stage first, so that it fails with its own cancellation and not with its upstream's reaction to the
            // request.
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

    /// The task that this was derived from, unless other consumers still want its result.
    private func upstreamToCancel() -> TaskControl? {
        guard let upstream else { return nil }
        guard isConsumer else { return upstream }
        return upstream.state.cancelConsumer(self) ? upstream : nil
    }

    /// Lets `token` cancel this task, until it ends or is released.
    func cancel(when token: CancellationToken) {
        let control = UnownedReference(self)
        state.takeBackAtEnd(token.register { control.strong?.cancel() })
    }
}
