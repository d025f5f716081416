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
    /// True if this task, or one that it was derived from, is a Swift task, or may have started some.
    @usableFromInline
    var isRunningInSwift: Bool {
        var current: Unmanaged<TaskControl>? = .passUnretained(self)
        // Each stage keeps the previous one, so that none has to be retained while it is read.
        while let control = current {
            if control._withUnsafeGuaranteedRef({ $0.mayRunInSwift }) { return true }
            guard let upstream = control._withUnsafeGuaranteedRef({ $0.unmanagedUpstream }) else {
                return control._withUnsafeGuaranteedRef { $0.future.mayRunInSwift }
            }
            current = upstream
        }
        return false
    }

    /// Raises the priority of the Swift tasks that run for this task, and of those that it starts later.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @usableFromInline
    func escalatePriority(to priority: TaskPriority) {
        // Such a task may itself be awaiting another one, and so on.
        guard Trampoline.enter() else { return Trampoline.putOff { self.escalatePriority(to: priority) } }
        defer { Trampoline.leave() }
        // Most chains have no children, so that no control can occur twice.
        var current: Unmanaged<TaskControl>? = .passUnretained(self)
        while let control = current {
            guard control._withUnsafeGuaranteedRef({ $0.escalateOwn(to: priority) == nil }) else {
                return Self.escalatePriority(ofAll: control.takeUnretainedValue(), to: priority)
            }
            current = control._withUnsafeGuaranteedRef { $0.unmanagedUpstream }
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private static func escalatePriority(ofAll first: TaskControl, to priority: TaskPriority) {
        var (seen, pending) = (Set<ObjectIdentifier>(), [first])
        while let control = pending.popLast() {
            guard seen.insert(ObjectIdentifier(control)).inserted else { continue }
            let children = control.escalateOwn(to: priority)
            if let upstream = control.upstream { pending.append(upstream) }
            if let children { pending += children.raisePriority(to: priority) }
        }
    }

    /// Raises the priority of the Swift task of this stage alone; returns the tasks it has started.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private func escalateOwn(to priority: TaskPriority) -> ChildTasks? {
        switch work {
        case .running(let task): task.escalatePriority(to: priority)
        case .children(let children): return children
        case .opaque, .reporting, .shared, .passing:
            // The future of a task that was derived from none may be that of another one.
            if unmanagedUpstream == nil { future.escalatePriority(to: priority) }
        }
        return nil
    }
}

extension TaskState: PriorityEscalating {
    /// Raises the priority of the Swift tasks that the task has started, and of those that it starts later.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @usableFromInline
    package func escalatePriority(to priority: TaskPriority) {
        for child in children?.raisePriority(to: priority) ?? [] { child.escalatePriority(to: priority) }
    }
}
