internal import DeferredCore

// The progress of a task is a sum that is kept while somebody follows it.
//
// A change goes up from the node where it was made to those above, which replace what they knew of it. Thread A reports,
// and thread B does so at the same moment. Each notes the change at its node; the first of them looks at all that has
// changed there, outside of the lock, and takes it over. A look has a number, so that an older one that comes late is
// ignored: a look that began after a change has seen it. So the last report is never lost, and nobody waits.
//
// While they are followed, nodes keep one another: those above by the edges to those below, and these by their followers.
// Whoever reads releases the topmost edge, and so all.

extension TaskNode {
    /// The share of the chain that ends with the task, while it is followed, and the number of its last change.
    var sum: (share: Share, number: Int)? {
        withLock { machine in machine.progress.map { ($0.sum, $0.number) } }
    }

    /// Notes that the task's own share has changed, and tells all that follow the progress.
    func changed() {
        if mark(KeptProgress.own) { tellChanges() }
    }

    /// Takes over what was marked as changed, and tells all that follow it.
    ///
    /// - Parameter atAll: Whether to look at all parts, and not only at those that were marked, and to leave nothing to a
    ///   thread that is about to look.
    func tellChanges(atAll: Bool = false) {
        let readers = takeOverChanges(atAll)
        if readers.isEmpty { return }
        // A reader may report to another task, whose reader reports to a third one, and so on.
        func tell() { for reader in readers { reader() } }
        if Trampoline.nest(tell) == nil { Trampoline.putOff(tell) }
    }

    /// Takes over what was marked as changed, here and at the nodes above. Returns the readers to be told.
    private func takeOverChanges(_ atAll: Bool) -> [@Sendable () -> Void] {
        var (queue, readers) = (Queue<TaskNode>(), [@Sendable () -> Void]())
        queue.append(self)
        // A queue, since nodes may be nested deeply; and each is in it once, however many ways lead there.
        while let node = queue.popFirst() {
            for follower in node.lookAtChanges(atAll: atAll && node === self) {
                switch follower {
                case .node(let above, let key): if above.mark(key) { queue.append(above) }
                case .reader(let body): readers.append(body)
                case .none: break
                }
            }
        }
        return readers
    }

    /// Notes that a part has changed; true if the caller has to look at it.
    private func mark(_ key: Int) -> Bool { withLock { $0.progress?.mark(key) ?? false } }

    /// Takes over what has changed. Returns who has to be told.
    private func lookAtChanges(atAll: Bool) -> [KeptProgress.Follower] {
        guard
            let (id, task, (look, changed)) = withLock({ machine in
                machine.progress.map { ($0.id, $0.task, $0.look(atAll)) }
            })
        else { return [] }
        let (own, isDone) = withExtendedLifetime(task) { (task.now, task.task.hasSucceeded) }
        let sums = changed.map { ($0, $1, $1.sum) }
        return withLock { machine in
            // Nobody may follow any more, or others than those for whom this looked.
            guard let progress = machine.progress, progress.id == id else { return [] }
            progress.update(own: own, isDone, look)
            for case let (key, node, sum?) in sums { progress.update(key, node, sum) }
            // Another thread is about to look at what has changed since, and tells.
            if progress.isQueued, !atAll { return [] }
            return progress.add(up: machine.childrenShare(isDone: progress.isDone))
        }
    }

    /// Returns the fraction of `task`, of which this is the node, while it is followed, and the share that the fraction is
    /// computed from.
    ///
    /// The fraction is 1 only after a success, and never less than one that any reader of the task was given before. A
    /// reader may read on one thread at a time only.
    func progress(of task: TaskHandle, hasSucceeded: Bool) -> (fraction: Double, share: Share) {
        let share = sum?.share ?? Share()
        // Read after the share, in which ended tasks count as done: a failed task keeps its last fraction.
        let hasFailed = !hasSucceeded && task.isEnded
        let fraction = hasSucceeded ? 1 : hasFailed ? 0 : min(share.fraction, (1.0).nextDown)
        return (raise(to: fraction), share)
    }

    // MARK: - Following

    /// Keeps the sum of a task's progress, and of all that it is made of, until the edge is released.
    static func follow(_ task: TaskHandle, _ follower: KeptProgress.Follower) -> ProgressEdge {
        var (holds, new) = ([ProgressEdge](), [(node: TaskNode, input: TaskHandle?)]())
        var (pending, seen) = ([task], Set<ObjectIdentifier>())
        // Downwards in a loop, since tasks may be nested deeply. Two threads may begin at once: each goes all the way, so that
        // neither reads a sum that the other has not completed.
        while let next = pending.popLast() {
            let (node, input) = (next.node, next.input)
            let own = OwnShare(next, input)
            let (id, isComplete) = node.withLock { machine in
                let progress = machine.progress ?? KeptProgress(own)
                machine.progress = progress
                return (progress.add(.none), progress.isComplete)
            }
            holds.append(ProgressEdge(node: node, id: id))
            guard !isComplete, seen.insert(ObjectIdentifier(node)).inserted else { continue }
            new.append((node, input.task))
            if let upstream = input.task { pending.append(upstream) }
            pending += node.running.map(\.task)
        }
        // And upwards, so that each sum is complete when it is added to the next.
        for (node, input) in new.reversed() { node.begin(input) }
        let node = task.node
        let id = node.withLock { $0.progress?.add(follower) } ?? 0
        release(holds)
        return ProgressEdge(node: node, id: id)
    }

    private func begin(_ input: TaskHandle?) {
        if let source = withLock({ $0.progress?.task.source }) {
            let stopWatching = source.watch { [weak self] in self?.changed() }
            // What is reported after the end doesn't count, and the end may come at any time.
            let isKept = withLock { machine in
                guard !machine.isEnded, let progress = machine.progress, progress.stopWatching == nil else {
                    return false
                }
                progress.stopWatching = stopWatching
                return true
            }
            if !isKept { stopWatching() }
        }
        if let input { connect(KeptProgress.input, input) }
        for (key, child) in running { connect(key, child) }
        tellChanges(atAll: true)
        withLock { $0.progress?.isComplete = true }
    }

    /// Adds this node as a follower of another one; `nil` if that closes a circle.
    private func makeEdge(_ key: Int, from below: TaskNode) -> ProgressEdge? {
        // A task that waits for itself is its own child: it counts as nothing there.
        guard below !== self, let id = below.withLock({ $0.progress?.add(.node(self, key: key)) }) else { return nil }
        let edge = ProgressEdge(node: below, id: id)
        // Looked for with the edge in its place: of two threads that close a circle, the later one sees the edge of the
        // other.
        guard below.isReached(from: self) else { return edge }
        Self.release([edge])
        return nil
    }

    /// Adds the sum of another node as a part of this one, which the caller has to look at.
    private func connect(_ key: Int, _ below: TaskHandle) {
        guard let edge = makeEdge(key, from: below.node) else { return }
        let isKept = withLock { machine in
            // A child may have ended, or given its place to another one.
            guard key == KeptProgress.input || machine.children?.running[key]?.task.control === below.control else {
                return false
            }
            return machine.progress?.connect(key, edge) ?? false
        }
        if isKept { _ = mark(key) } else { Self.release([edge]) }
    }

    /// The nodes that this is a part of.
    private var above: [TaskNode] { withLock { $0.progress?.nodes ?? [] } }

    /// Returns true if `node` is this one, or below it.
    private func isReached(from node: TaskNode) -> Bool {
        if node === self { return true }
        var (seen, pending) = (Set<ObjectIdentifier>(), node.above)
        while let next = pending.popLast() {
            if next === self { return true }
            if seen.insert(ObjectIdentifier(next)).inserted { pending += next.above }
        }
        return false
    }

    /// Adds a child that has started.
    func follow(_ key: Int, _ child: TaskHandle) {
        let edge = Self.follow(child, .none)
        connect(key, child)
        Self.release([edge])
        tellChanges()
    }

    /// Puts a child in the place of the stage that it was the only child of. The child's part takes that of the stage in the
    /// same step, and is looked at before the sum changes, so that nothing goes back.
    ///
    /// - Parameters:
    ///   - stage: The control of the stage.
    ///   - completed: The share of what the stage had completed beside the child.
    func replace(
        _ key: Int,
        _ stage: ObjectIdentifier,
        by child: TaskHandle,
        completed: Share
    ) -> Children.Start? {
        let hold = withLock { $0.progress != nil } ? Self.follow(child, .none) : nil
        let edge = hold.flatMap { makeEdge(key, from: $0.node) }
        let (replaced, old, mustTell) = withLock { machine -> ((Children.Start, TaskHandle)?, ProgressEdge?, Bool) in
            let replaced = machine.children?.replace(key, stage, by: child, completed: completed)
            guard replaced != nil, let progress = machine.progress else { return (replaced, edge, false) }
            let old = progress.disconnect(key)
            if let edge { _ = progress.connect(key, edge) }
            return (replaced, old, progress.mark(key))
        }
        if mustTell { tellChanges() }
        Self.release([old, hold].compactMap(\.self))
        // The stage is released outside of the lock.
        guard let (start, _) = replaced else { return nil }
        if hold == nil, withLock({ $0.progress != nil }) { follow(key, child) }
        return start
    }

    /// Ends the keeping of sums that nobody follows any more.
    static func release(_ edges: [ProgressEdge]) {
        var pending = edges
        while let edge = pending.popLast() {
            // What is removed is released outside of the lock.
            let (_, progress) = edge.node.withLock { machine -> (KeptProgress.Follower?, KeptProgress?) in
                guard let progress = machine.progress else { return (nil, nil) }
                let (follower, isLast) = progress.remove(edge.id)
                return (follower, isLast ? machine.progress.take() : nil)
            }
            progress?.stopWatching?()
            pending += progress?.edges ?? []
        }
    }
}
