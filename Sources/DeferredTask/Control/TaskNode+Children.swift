internal import DeferredCore

// The tasks that a task has started, or was combined from.

extension TaskNode {
    /// The running children.
    var running: [(key: Int, task: TaskHandle)] {
        withLock { $0.children?.running.numbered.map { ($0, $1.task) } ?? [] }
    }

    /// Returns true if the child `task` is the one that these children belong to, or waits for it, and so would wait for
    /// itself.
    ///
    /// Called with the child in its place. Where two threads close a circle at the same moment, the later one sees what the
    /// other has put there. Combinations are not looked through: another of their children may end them.
    ///
    /// Looks no further than 64 controls, so that a child at the end of a long chain costs no more. Plain stages don't
    /// count: they cost nothing here.
    @usableFromInline
    func isCircle<Success>(_ task: Task<Success>) -> Bool {
        var (next, count) = (task.control, 0)
        while let control = next, count < 64 {
            if control.existingNode === self { return true }
            (next, count) = (control.adopted ?? control.upstream, count + 1)
            guard next == nil, control.isOfFuture else { continue }
            // The future may be that of another task.
            for object in control.future.attached(within: 64 - count) {
                let node = unsafeDowncast(object, to: TaskNode.self)
                if node === self { return true }
                next = next ?? node.adopted
            }
        }
        return false
    }

    /// The only child of a stage, whose result ends the stage.
    var adopted: TaskControl? { withLock { $0.children?.only?.control } }

    /// Notes a child that has started; `nil` for a child that ended before it could be cancelled.
    ///
    /// A child that starts after its parent was cancelled is cancelled immediately.
    ///
    /// - Returns: The key of the child.
    @discardableResult
    @usableFromInline
    func started(_ task: TaskHandle?, hasFailed: Bool) -> Int {
        let ((key, start), isFollowed) = withLock {
            ($0.children?.start(task, hasFailed: hasFailed) ?? (0, .cancel), $0.progress != nil)
        }
        act(start, on: task)
        if case .children(let node)? = task?.work { node.withLock { $0.children?.place(in: self, key) } }
        if isFollowed { if let task { follow(key, task) } else { changed() } }
        return key
    }

    private func act(_ start: Children.Start, on task: TaskHandle?) {
        switch start {
        case .cancel:
            guard let task else { return }
            task.cancel()
            // It may have been cancelled before.
            if !task.isEnded { TaskControl.endCircles(from: CollectionOfOne(task.control)) }
        case .run(let priority?):
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                task?.future.strong?.escalatePriority(to: priority)
            }
        case .run(nil): break
        }
    }

    /// Keeps the handler on a child's end, unless the child has ended.
    func wait(for key: Int, with registration: Registration) {
        if withLock({ $0.children?.wait(for: key, with: registration) }) == false { registration.cancel() }
    }

    /// Releases a child that has ended.
    func ended(_ key: Int, hasSucceeded: Bool) {
        let (child, node) = withLock { ($0.children?.running[key]?.task, $0.progress?.node(key)) }
        guard let child else { return }
        // Whoever is about to look at the end may have put it off.
        node?.tellChanges(atAll: true)
        let share = node?.sum?.share ?? child.endedShare
        // The child is released outside of the lock.
        let (_, edge, mustTell) = withLock { machine in
            let child = machine.children?.end(key, share.asChild(isDone: hasSucceeded))
            let edge = machine.progress?.disconnect(key)
            return (child, edge, machine.progress?.mark(KeptProgress.own) ?? false)
        }
        if let edge { Self.release([edge]) }
        if mustTell { tellChanges() }
    }

    /// Marks children to come to be cancelled when they start.
    ///
    /// - Returns: The running children, to be cancelled.
    func cancelChildren() -> [TaskHandle] { withLock { $0.children?.cancel() ?? [] } }

    /// Releases the children: their parent has ended.
    ///
    /// - Parameter cancelling: Whether to take back the handlers on the children, and to cancel the children.
    func endChildren(cancelling: Bool = false) {
        let (children, edges) = withLock { $0.endChildren() }
        Self.release(edges)
        guard cancelling else { return }
        for child in children {
            child.registration?.cancel()
            child.task.cancel()
        }
    }

    /// Puts the only child of a stage in the stage's place among the children of its parent, if nobody but the parent
    /// keeps the stage.
    ///
    /// Of a recursive `flatMap`, whose turns are children of one another, this leaves only the running turn. Continues
    /// with the parent, which its caller may still have kept at the previous turn.
    @usableFromInline
    func collapse() {
        var current: TaskNode? = self
        while let node = current { current = node.collapseOnce() }
    }

    /// - Returns: The node that the child now belongs to.
    private func collapseOnce() -> TaskNode? {
        let found = withLock { ($0.children?.only, $0.children?.place) }
        guard case let (child?, place?) = found, let parent = place.parent.strong,
            let (stage, completed) = completed(asChild: place.key, of: parent),
            let start = parent.replace(place.key, stage, by: child, completed: completed)
        else { return nil }
        // The stage's own reference to the child is released outside of the lock.
        let (_, edges) = withLock { ($0.children?.removeOnly(), $0.progress?.takeChildren().edges ?? []) }
        Self.release(edges)
        if case .children(let node) = child.work { node.withLock { $0.children?.place(in: parent, place.key) } }
        act(start, on: child)
        return parent
    }

    /// The control of the stage that the children belong to, and the share of what it has completed beside them; `nil` if
    /// somebody else keeps it, or is told of its cancellation.
    private func completed(asChild key: Int, of parent: TaskNode) -> (ObjectIdentifier, Share)? {
        guard let stage = parent.withLock({ $0.children?.unsharedChild(key) }) else { return nil }
        // In this order: now nobody is left who could register something.
        guard let ended = withLock({ $0.isUnobserved ? $0.children?.ended : nil }) else { return nil }
        var completed = stage.shareBefore.asPartOfChild()
        completed += ended
        return (ObjectIdentifier(stage.control), completed)
    }
}

extension TaskHandle {
    /// The share of a chain that has ended, and that nobody has followed.
    var endedShare: Share {
        var share = Share()
        var current: TaskHandle? = self
        while let task = current {
            let input = task.input
            share += OwnShare(task, input).now
            if case .children(let node) = task.work {
                let isDone = task.future.hasSucceeded
                share += node.withLock { $0.childrenShare(isDone: isDone) }
            }
            current = input.task
        }
        return share
    }

    /// The share of the tasks that this one was derived from, and of plain stages that have ended.
    var shareBefore: Share {
        let input = input
        var share = input.task?.endedShare ?? Share()
        let own = OwnShare(self, input)
        if own.endedCount > 0 { share += .stages(own.endedCount, isDone: own.upstream?.hasSucceeded == true) }
        return share
    }
}
