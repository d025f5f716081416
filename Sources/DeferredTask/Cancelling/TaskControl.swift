public import DeferredCore

/// The consumer's side of a task: what `cancel()` and `progress` act on.
///
/// References run from consumers to producers only: a control keeps the control of the task it was derived from, and a
/// future keeps no control. So a cancellation handler may refer to the future that it fills without making a cycle: when
/// nobody is left who could cancel, the control goes, and the handlers with it.
///
/// SAFETY: `upstream` changes only while deinitialising; everything else is immutable.
@usableFromInline
package final class TaskControl: @unchecked Sendable {
    @exclusivity(unchecked)
    private(set) var upstream: TaskControl?
    let work: TaskWork
    private let future: ControlledFuture

    /// For a task whose future somebody else fills; `state` is told of its end.
    init(_ state: TaskState, _ work: TaskWork) {
        future = .root(state)
        self.work = work
    }

    /// For the result of an operator.
    @usableFromInline
    init(_ stage: FutureNode, _ work: TaskWork, upstream: TaskControl?) {
        future = .stage(stage)
        self.work = work
        self.upstream = upstream
        if let upstream, isConsumer(of: upstream) { upstream.state.addConsumer() }
        // What is kept for the end has to be there in time.
        if case .children = work { _ = state }
    }

    deinit {
        existingState?.letGo()
        // One by one, for a chain of a million tasks would overflow the stack.
        while var next = upstream.take() {
            guard isKnownUniquelyReferenced(&next) else { return }
            upstream = next.upstream.take()
        }
    }

    /// What is shared with the future. Made for the first who cancels, registers, or watches; most stages never need it.
    package var state: TaskState {
        switch future {
        case .root(let state):
            return state
        case .stage(let stage):
            let state = stage.attach { isEnded in
                let state = TaskState(.stage(stage), work, handlers: [])
                if isEnded { state.letGo() }
                return state
            }
            return unsafeDowncast(state, to: TaskState.self)
        }
    }

    /// The same, unless nobody has needed it.
    private var existingState: TaskState? {
        switch future {
        case .root(let state): state
        case .stage(let stage): stage.attached.map { unsafeDowncast($0, to: TaskState.self) }
        }
    }

    var isCancelled: Bool { existingState?.isCancelled ?? false }

    /// Whether the task has ended.
    var isEnded: Bool {
        switch future {
        case .root(let state): state.isEnded
        case .stage(let stage): stage.isFinished
        }
    }

    /// Asks this task to stop, then those it has started, and then those it was derived from.
    package func cancel() {
        var pending = [self]
        // In a loop, for chains may be long and children deep.
        while let current = pending.popLast() {
            guard let cancellation = current.state.cancel() else { continue }
            // First the target, so that a stage fails by itself and not with what its upstream makes of the request.
            cancellation.target.stop()
            for handler in cancellation.handlers { handler() }
            let children = current.work.cancel()
            if let upstream = current.upstreamToCancel() { pending.append(upstream) }
            pending += children.reversed()
        }
    }

    /// What this was derived from, unless that has other consumers that still want it.
    private func upstreamToCancel() -> TaskControl? {
        guard let upstream else { return nil }
        guard isConsumer(of: upstream) else { return upstream }
        return upstream.state.removeConsumer() ? upstream : nil
    }

    /// Whether this is one of several that `upstream` is shared by.
    private func isConsumer(of upstream: TaskControl) -> Bool { work.isShared || upstream.work.isShared }

    /// Lets `token` cancel this task, until it ends or nobody is left who holds it.
    func cancel(when token: CancellationToken) {
        state.takeBackAtEnd(token.register { [weak self] in self?.cancel() })
    }

    /// How the end of a task is known, and where what is shared with its future can be found.
    private enum ControlledFuture {
        case root(TaskState)
        case stage(FutureNode)
    }

    /// The progress object that somebody holds, or a new one; `isNew` tells that it was just made.
    func progress() -> (object: TaskProgress, isNew: Bool) {
        if let progress = state.progress { return (progress, false) }
        let new = TaskProgress(self)
        let progress = state.share(new)
        return (progress, progress === new)
    }
}
