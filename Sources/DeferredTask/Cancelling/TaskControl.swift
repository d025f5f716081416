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
    @usableFromInline private(set) var upstream: TaskControl?
    @usableFromInline let work: TaskWork
    @usableFromInline let future: ControlledFuture

    /// For a task whose future somebody else fills, and that has to be told of the end.
    @usableFromInline
    init(root: FutureNode, _ work: TaskWork, _ onCancel: (@Sendable () -> Void)?) {
        future = .root(TaskState(.root(root), work, handler: onCancel))
        self.work = work
    }

    /// For the result of a Swift task.
    @usableFromInline
    init(_ storage: FutureNode, _ task: _Concurrency.Task<Void, Never>) {
        work = .running(task)
        // Now, for what is made later would have to keep the storage, and with it the result.
        future = .root(.attached(to: storage, .root(storage), work))
    }

    /// For the result of an operator.
    @inlinable
    init(stage: FutureNode, _ work: TaskWork, upstream: TaskControl?) {
        if let upstream, work.isShared || upstream.work.isShared { upstream.state.addConsumer() }
        self.upstream = upstream
        self.work = work
        future = .stage(stage)
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
    @usableFromInline
    package var state: TaskState {
        switch future {
        case .root(let state):
            return state
        case .stage(let stage):
            return .attached(to: stage, .stage(stage), work)
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

    /// Whether the task has ended otherwise than by a failure that is known of.
    var isDone: Bool {
        switch future {
        case .root(let state): state.isDone
        case .stage(let stage): stage.isFinished && !stage.hasFailed
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
            current.state.progress?.update()
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
    @usableFromInline
    enum ControlledFuture {
        case root(TaskState)
        case stage(FutureNode)
    }
}
