internal import DeferredCore

/// A task without its type: what cancelling, tokens, children and progress act on.
///
/// A stage that has no work of its own (`map`, `mapError`, `recover`, `always`) is a *plain stage*: a future and nothing
/// else. Its task holds the nearest control upstream, and the number of plain stages since.
///
/// ```
///   Task(promise)  ◀─ waits ─ map ◀─ waits ─ always ◀─ waits ─ flatMap        futures
///        ▲                     ┊                ┊                 ▲           (they keep those that wait)
///        ┊                   (node)           (node)              ┊
///     control ◀───────────── keeps ───────────────────────── control         plainCount of the flatMap: 2
///        ▲ keeps                                ▲ keeps           ▲ keeps
///   Task, plainCount 0                  Task, plainCount 2   Task, plainCount 0
/// ```
///
/// A plain stage gets a node when somebody asks for what only a node has: a handler of its cancellation, or its progress. The
/// node is attached to the stage, and kept by the node of the control upstream, which lets go of it when nobody is left
/// who holds a task of the chain. A cancellation needs no node: it is one flag in the stage, unless there is a node.
///
/// A cancellation has to find the stages upstream of the one where it began. Thread A cancels, while thread B fills. A stage that
/// waits knows the address of the future that it waits for. A exchanges the address for the state *examining*, retains the
/// future, unless it is already being freed, and puts the address back. B, which would run the stage meanwhile, waits
/// for these few instructions. If the stage no longer waits, B has filled everything between it and the control, so that A
/// goes on there.
@usableFromInline
package struct TaskHandle: Sendable {
    let future: UnownedFuture
    /// The task's own control; for a plain stage, the nearest one upstream.
    var control: TaskControl
    /// The number of plain stages since `control`, including this one.
    let plainCount: UInt32

    init(_ control: TaskControl) {
        future = control.future
        self.control = control
        plainCount = 0
    }

    init(_ future: UnownedFuture, _ control: TaskControl, plainCount: UInt32) {
        self.future = future
        self.control = control
        self.plainCount = plainCount
    }

    var isPlain: Bool { plainCount > 0 }

    /// The work that the task reports, starts and runs.
    var work: TaskWork { isPlain ? .opaque : control.work }

    /// True if the task has ended, or nobody is left who could cancel it.
    var isEnded: Bool { future.isFinished || existingNode?.isEnded ?? false }

    // MARK: - Upstream

    /// The task that another one was derived from.
    enum Input {
        /// It was created with its result, or with a producer.
        case none
        /// It waits for plain stages that are gone without having ended.
        case lost(TaskControl, plainCount: UInt32)
        /// The number of plain stages in between that have ended, or `nil` if the task is the previous stage.
        case upstream(TaskHandle, endedCount: Int)

        /// The task whose progress counts.
        var task: TaskHandle? {
            switch self {
            case .none: nil
            case .lost(let control, _): TaskHandle(control)
            case .upstream(let task, _): task
            }
        }
    }

    /// The previous task of the chain; where plain stages have ended, the one that they came from.
    ///
    /// - Complexity: O(1).
    var input: Input {
        guard let source = isPlain ? control : control.upstream else { return .none }
        let count = isPlain ? plainCount - 1 : control.plainCount
        if count == 0 { return .upstream(TaskHandle(source), endedCount: 0) }
        return switch future.input {
        case .ended: .upstream(TaskHandle(source), endedCount: Int(count))
        case .lost: .lost(source, plainCount: count)
        case .waiting(let stage):
            .upstream(TaskHandle(UnownedFuture(stage), source, plainCount: count), endedCount: 0)
        }
    }

    // MARK: - Node

    /// The node, if it was needed already.
    var existingNode: TaskNode? {
        guard isPlain else { return control.existingNode }
        let object = future.withAttachment { $0.object } ?? control.existingNode?.plainNode(of: future)
        return object.map { unsafeDowncast($0, to: TaskNode.self) }
    }

    /// The node, made on first use.
    var node: TaskNode { isPlain ? existingNode ?? makePlainNode() : control.node }

    private func makePlainNode() -> TaskNode {
        let new = TaskNode()
        let isFirst = future.withAttachment { attachment in
            guard attachment.attach(new, afterCancelling: { _ = new.cancel() }) else { return false }
            control.node.keep(PlainStage(node: new, future: future, plainCount: plainCount))
            return true
        }
        if isFirst == true { return new }
        if let node = existingNode { return node }
        // A stage that is gone has ended, or never will, and is then only known to the control's node.
        guard future.isFinished else {
            return control.node.plainNode(of: PlainStage(node: new, future: future, plainCount: plainCount))
        }
        new.end()
        return new
    }

    // MARK: - Cancelling

    /// True if the task was asked to stop before its end.
    var isCancelled: Bool {
        isPlain ? future.isCancelled || existingNode?.isCancelled == true : control.isCancelled
    }

    /// True if the task of a plain stage was asked to stop before its end.
    static func isCancelled(_ stage: FutureNode) -> Bool {
        guard let attachment = stage.attachmentAddress else { return false }
        if attachment.pointee.isCancelled { return true }
        return attachment.pointee.object.map { unsafeDowncast($0, to: TaskNode.self).isCancelled } ?? false
    }

    /// Returns a token that is cancelled with the task, until its end.
    func token() -> CancellationToken { future.isFinished ? .none : node.withLock { $0.token() } }

    /// Asks this task to stop, then those it has started, and then those it was derived from.
    package func cancel() {
        guard let registered = beginCancelling() else { return }
        Trampoline.perform { stop(registered) }
    }

    /// Notes the request to stop. Returns the handlers to call, the first time before the end.
    ///
    /// Thread A cancels, while thread B fills. The future decides about the result, and the node's lock whether the handlers
    /// are called, by A, or freed, by B. So a task that B fills in between is cancelled, and may have succeeded.
    private func beginCancelling() -> TaskMachine.Registered? {
        if future.isFinished { return nil }
        if isPlain, let noted = future.withAttachment({ $0.cancel() }), let noted {
            return noted ? TaskMachine.Registered() : nil
        }
        return node.cancel()
    }

    private func stop(_ first: TaskMachine.Registered) {
        var (current, registered) = (self, first)
        var pending: [TaskHandle] = []
        // Those that were asked before, and still wait: the request may have come round. A circle of which nothing is left
        // to be ended at once has combinations in it, so that a plain chain isn't looked at.
        var (asked, hasChildren) = ([ObjectIdentifier: TaskControl](), false)
        // In a loop, since chains may be long and children nested deeply.
        while true {
            // Before the stage is abandoned, and leaves the list of the future that it waits for.
            let upstream = current.upstreamToCancel()
            // The stage first, so that it fails with its own cancellation and not with its upstream's reaction to the
            // request. A task that was made of a future leaves it alone: it may be that of another task.
            let node = current.existingNode
            if current.isPlain || !current.control.isOfFuture { current.future.strong?.abandon() }
            registered.call()
            node?.object?.update()
            let children = current.cancelWork()
            // Other consumers may still want the result of a shared task.
            if current.wantsNoMore { pending += upstream }
            pending += children.reversed()
            if !children.isEmpty { hasChildren = true }
            repeat {
                guard let next = pending.popLast() else { return TaskControl.endCircles(from: asked.values) }
                guard let more = next.beginCancelling() else {
                    if hasChildren, !next.isEnded { asked[ObjectIdentifier(next.control)] = next.control }
                    continue
                }
                (current, registered) = (next, more)
                break
            } while true
        }
    }

    /// Asks those that this task was derived from to stop, but not this one.
    func cancelUpstream() {
        let upstream = upstreamToCancel()
        if wantsNoMore { for task in upstream.reversed() { task.cancel() } }
    }

    /// True unless this is one consumer of a task that others still want.
    private var wantsNoMore: Bool {
        guard !isPlain, let task = control.sharedTask else { return true }
        return task.node.cancelConsumer(control)
    }

    /// The tasks to cancel with this one, the nearest last.
    private func upstreamToCancel() -> [TaskHandle] {
        if !isPlain, let task = control.sharedTask { return [task] }
        switch input {
        case .none: return []
        case .upstream(let task, _): return [task]
        // They no longer tell what they waited for, but are some of those that the control's node knows.
        case .lost(let source, let count):
            return [TaskHandle(source)]
                + (source.existingNode?.lostStages(within: count) ?? []).map {
                    TaskHandle($0.future, source, plainCount: $0.plainCount)
                }
        }
    }

    /// Asks what runs for the task to stop. Returns the tasks that it has started.
    private func cancelWork() -> [TaskHandle] {
        switch work {
        case .opaque, .shared, .passing: break
        case .running(let task): task.cancel()
        case .reporting(let source): source.cancel()
        case .children(let node): return node.cancelChildren()
        }
        return []
    }

    /// Lets `token` cancel this task, until it ends or is cancelled.
    ///
    /// - Parameter isKeeping: Whether the token keeps what it has to cancel.
    func cancel(when token: CancellationToken, isKeeping: Bool = true) {
        let hold = TokenHold(self)
        if !isKeeping { hold.release() }
        node.keep(TokenLink(registration: token.register { hold.cancel() }, hold: UnownedReference(hold)))
        // A future that was lost meanwhile hasn't found it.
        if future.isLost { hold.release() }
    }
}

/// A plain stage whose node is kept by the node of the nearest control upstream.
struct PlainStage: Sendable {
    let node: TaskNode
    let future: UnownedFuture
    /// The number of plain stages from the control to this one.
    let plainCount: UInt32
}
