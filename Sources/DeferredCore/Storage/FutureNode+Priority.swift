/// Work that may run in Swift's concurrency, whose priority can be raised.
@usableFromInline
package protocol PriorityEscalating: Sendable {
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func escalatePriority(to newPriority: TaskPriority)
}

extension Task: PriorityEscalating where Success == Void, Failure == Never {}

extension FutureNode {
    /// True if a Swift task may fill this future, or one that it waits for as the result of operators of tasks.
    @usableFromInline
    package final var mayRunInSwift: Bool {
        // Most futures that somebody awaits wait for no other one.
        producer != nil || membership.isWaiting && !forEachInput { $0.producer == nil }
    }

    /// Raises the priority of the Swift tasks that fill this future, or one that it waits for as the result of operators
    /// of tasks.
    ///
    /// A stage of a plain future can't be asked for the future that it waits for.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    package final func escalatePriority(to priority: TaskPriority) {
        // Such a task may itself be awaiting another one, and so on.
        guard Trampoline.enter() else { return Trampoline.putOff { self.escalatePriority(to: priority) } }
        defer { Trampoline.leave() }
        _ = forEachInput {
            ($0.producer as? any PriorityEscalating)?.escalatePriority(to: priority)
            return true
        }
    }

    /// Calls `body` with this future, with the one that it waits for, and so on, as long as it returns true. Returns true if
    /// it never returned false.
    final func forEachInput(_ body: (FutureNode) -> Bool) -> Bool {
        var current = self
        while body(current) {
            guard case .waiting(let upstream) = current.membership.examine() else { return true }
            current = upstream
        }
        return false
    }

    /// Waits until the future is filled; meanwhile, the Swift tasks that fill it have the priority of the awaiting task.
    @usableFromInline
    final func waitRaisingPriority(_ suspend: (UnsafeContinuation<Void, Never>) -> Void) async {
        guard mayRunInSwift, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return await withUnsafeContinuation { suspend($0) }
        }
        await withTaskPriorityEscalationHandler {
            // With the handler in place, so that no raise is missed.
            escalatePriority(to: Task<Never, Never>.currentPriority)
            await withUnsafeContinuation { suspend($0) }
        } onPriorityEscalated: { _, priority in
            self.escalatePriority(to: priority)
        }
    }
}
