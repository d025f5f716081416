internal import DeferredCore

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
            if control._withUnsafeGuaranteedRef({ $0.work.mayRunInSwift }) { return true }
            current = control._withUnsafeGuaranteedRef { $0.upstream.map(Unmanaged.passUnretained) }
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
        var plain: TaskControl? = self
        while let control = plain, control.children == nil {
            if case .running(let task) = control.work { task.escalatePriority(to: priority) }
            plain = control.upstream
        }
        guard let first = plain else { return }
        var (seen, pending) = (Set<ObjectIdentifier>(), [first])
        while let control = pending.popLast() {
            guard seen.insert(ObjectIdentifier(control)).inserted else { continue }
            if case .running(let task) = control.work { task.escalatePriority(to: priority) }
            if let upstream = control.upstream { pending.append(upstream) }
            if let children = control.children { pending += children.raisePriority(to: priority) }
        }
    }
}

extension TaskWork {
    fileprivate var mayRunInSwift: Bool {
        switch self {
        case .running, .children: true
        case .opaque, .reporting, .shared: false
        }
    }
}
