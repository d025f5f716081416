public import DeferredCore

/// The consumer's side of a task that has a producer, children, a time-out, or consumers that are counted.
///
/// References run from consumers to producers only: a control keeps the control of the task it was derived from, and a
/// future keeps no control. Nor does a control keep its future, because handlers on the future may keep the control. So
/// a cancellation handler may refer to the future that it fills without making a cycle: when nobody is left who could
/// cancel, the control is released, and the handlers with it; and when nobody is left who could fill, the future is
/// released.
///
/// ```
///   Task ─────▶ control ─────▶ control upstream ─────▶ …
///     │          ┊   │
///     │  address ┊   ▼         handlers of the cancellation
///     │          ┊  node ────▶ controls of the running children
///     ▼          ▼   ▲         nodes of the plain stages derived from the task
///   future ──────────┘         nodes above and below, while somebody follows the progress
///     │
///     └────▶ handlers, and stages that wait for the future
///
///   token ────▶ control, until the task ends, or its future is lost
/// ```
///
/// The end of the task, or the release of its control, empties the node.
///
/// Most tasks of a chain have no control; see ``TaskHandle``.
///
/// SAFETY: `upstream` changes only while deinitialising; everything else is immutable or atomic.
@_fixed_layout
@usableFromInline
package final class TaskControl: @unchecked Sendable {
    /// The nearest task upstream that has a control.
    @exclusivity(unchecked)
    @usableFromInline private(set) var upstream: TaskControl?
    @usableFromInline let work: TaskWork
    @usableFromInline let future: UnownedFuture
    /// The number of plain stages between `upstream` and this.
    @usableFromInline let plainCount: UInt32
    /// Tells of the end if the future has no room for an attachment; taken back when nobody is left who could cancel.
    @usableFromInline let observer: Registration?
    /// The node that is shared with the future; most tasks never need it.
    @usableFromInline let shared = Attachment()

    /// - Parameters:
    ///   - observer: Has the attachment, if the future has none.
    ///   - upstream: The task that this is derived from; `nil` for one that was created with its result.
    ///   - plainCount: The number of plain stages between `upstream` and this.
    ///   - onCancel: Asks the producer to stop.
    @inlinable
    init(
        _ future: __shared FutureNode,
        _ work: TaskWork,
        observer: consuming AttachmentObserver? = nil,
        upstream: __shared TaskControl? = nil,
        plainCount: UInt32 = 0,
        onCancel: (@Sendable () -> Void)? = nil
    ) {
        self.upstream = upstream
        self.work = work
        self.future = UnownedFuture(future, observer)
        self.plainCount = plainCount
        self.observer = if let observer = consume observer { Registration(observer) } else { nil }
        if onCancel != nil || upstream != nil || !work.isOpaque { introduce(onCancel) }
    }

    /// Makes the control known to those who have to know it from the beginning.
    @usableFromInline
    func introduce(_ onCancel: (@Sendable () -> Void)?) {
        // Handlers and children have to be known to the future before its end.
        if case .children(let node) = work {
            if let onCancel { node.withLock { $0.handler = onCancel } }
            _ = attach(node)
        } else if onCancel != nil {
            _ = attach(TaskNode(onCancel))
        }
        sharedTask?.node.addConsumer(self)
    }

    deinit {
        if !future.isFinished { observer?.cancel() }
        existingNode?.letGo()
        if let task = sharedTask, task.node.dropConsumer(self) { task.cancel() }
        // In a loop, since the recursion of a chain of a million tasks would overflow the stack. Each control lets go of its
        // own upstream only: a token may still find that one.
        guard isKnownUniquelyReferenced(&upstream) else { return }
        var controls: [AnyObject] = [upstream.take()].compactMap(\.self)
        Trampoline.free(&controls)
    }

    /// The task that this shares with other consumers: the one that it was derived from, by `shared()`, or by any operator
    /// from a consumer.
    // Inlined, since most tasks have no upstream: that check is all that freeing them needs.
    @inline(__always)
    var sharedTask: TaskHandle? {
        guard let upstream else { return nil }
        if case .shared(let future) = work { return TaskHandle(future, upstream, plainCount: plainCount) }
        return upstream.isShared ? TaskHandle(upstream) : nil
    }

    /// True if this is one consumer of a shared task.
    @inlinable var isShared: Bool {
        if case .shared = work { true } else { false }
    }

    /// True if the task was asked to stop before its end. A Swift task can also be asked by its own code.
    var isCancelled: Bool {
        if existingNode?.isCancelled == true { return true }
        return if case .running(let task) = work { task.isCancelled } else { false }
    }

    /// True if the task was made of a future, which may be that of another task.
    var isOfFuture: Bool { observer != nil }

    /// The task whose result ends this one, if this is a stage whose closure has returned it.
    var adopted: TaskControl? {
        if case .children(let node) = work { node.adopted } else { nil }
    }

    /// The node, if it was needed already.
    var existingNode: TaskNode? { shared.object.map { unsafeDowncast($0, to: TaskNode.self) } }

    /// The node, made on first use.
    var node: TaskNode { existingNode ?? attach(TaskNode()) }

    private func attach(_ node: TaskNode) -> TaskNode {
        // Attached here first: the future, which may be gone, can't be relied on to pass it to other threads.
        guard shared.attach(node) else { return self.node }
        // A future that is gone has ended, or never will.
        if !future.attach(node), future.isFinished { node.end() }
        return node
    }
}
