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
        storage.escalatePriority(to: newPriority)
    }
}

extension TaskNode: PriorityEscalating {
    /// Raises the priority of the Swift tasks that the task has started, and of those that it starts later.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @usableFromInline
    package func escalatePriority(to priority: TaskPriority) {
        for child in withLock({ $0.children?.raisePriority(to: priority) ?? [] }) {
            child.future.strong?.escalatePriority(to: priority)
        }
    }
}
