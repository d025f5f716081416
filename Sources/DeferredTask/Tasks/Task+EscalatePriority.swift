public import DeferredCore

extension Task {
    /// Raises the priority of this task, as Swift's own `Task.escalatePriority(to:)` does.
    ///
    /// It is for a `Task { }`, and for tasks that were derived from one or combined from several: each Swift task that
    /// runs for this one, or that a closure of `flatMap` and the like returns later, gets the priority, unless it has a
    /// higher one. Awaiting ``value`` does the same.
    ///
    /// - Complexity: O(*n*) in the number of tasks that this one is made of.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    public func escalatePriority(to newPriority: TaskPriority) {
        control?.escalatePriority(to: newPriority)
    }
}

extension TaskControl {
    /// Raises the priority of the Swift tasks that run for this task, and of those that it starts later.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @usableFromInline
    func escalatePriority(to priority: TaskPriority) {
        // Such a task may itself be awaiting another one, and so on.
        guard Trampoline.enter() else { return Trampoline.putOff { self.escalatePriority(to: priority) } }
        defer { Trampoline.leave() }
        var (seen, pending) = (Set<ObjectIdentifier>(), [self])
        while let control = pending.popLast() {
            guard seen.insert(ObjectIdentifier(control)).inserted else { continue }
            if let upstream = control.upstream { pending.append(upstream) }
            switch control.work {
            case .running(let task): task.escalatePriority(to: priority)
            case .children(let node): pending += node.raisePriority(to: priority).map(\.control)
            case .opaque, .reporting, .shared, .passing:
                // The future of a task that was derived from none may be that of another one.
                if control.upstream == nil { control.future.escalatePriority(to: priority) }
            }
        }
    }
}

extension TaskNode: PriorityEscalating {
    /// Raises the priority of the Swift tasks that the task has started, and of those that it starts later.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @usableFromInline
    package func escalatePriority(to priority: TaskPriority) {
        for child in raisePriority(to: priority) { child.control.escalatePriority(to: priority) }
    }
}
