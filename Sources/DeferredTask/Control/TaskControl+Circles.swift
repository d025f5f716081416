internal import DeferredCore

// Tasks that wait for one another in a circle.
//
// A circle of stages fails when it closes; see `TaskNode.isCircle`. One that leads through a combination may still be ended
// by another child of it, until it is cancelled: the request goes round, comes back to a task that was asked already, and
// nobody is left to decide. Then the combination ends.

/// A combination that can be ended although its children still run.
protocol CancelledCombination: AnyObject, Sendable {
    /// Ends it with `CancellationError`.
    func endCancelled()
}

extension TaskControl {
    /// Ends the cancelled combinations in the circles that can be reached from `controls`.
    ///
    /// - Complexity: O(*n*) in the number of tasks that have not ended, and that these wait for.
    static func endCircles(from controls: some Collection<TaskControl>) {
        var found: [any CancelledCombination] = []
        var seen = Set<ObjectIdentifier>()
        // Depth first, in a loop, since tasks may be nested deeply: a circle leads back to a task on the path.
        var (path, places) = ([(control: TaskControl, next: [TaskControl])](), [ObjectIdentifier: Int]())
        func enter(_ control: TaskControl) {
            guard seen.insert(ObjectIdentifier(control)).inserted else { return }
            places[ObjectIdentifier(control)] = path.count
            path.append((control, control.waitedFor))
        }
        for control in controls {
            enter(control)
            while !path.isEmpty {
                guard let next = path[path.count - 1].next.popLast() else {
                    places[ObjectIdentifier(path.removeLast().control)] = nil
                    continue
                }
                // The first combination behind that task, since a stage waits for a single one: all circles through the
                // task lead there.
                if let place = places[ObjectIdentifier(next)] {
                    found += path[place...].lazy.compactMap(\.control.cancelledCombination).prefix(1)
                } else {
                    enter(next)
                }
            }
        }
        for combination in found { combination.endCancelled() }
    }

    /// The tasks that this one waits for.
    private var waitedFor: [TaskControl] {
        guard !future.isFinished else { return [] }
        if case .children(let node) = work {
            let running = node.running.lazy.map(\.task).filter { !$0.isEnded }.map(\.control)
            if !running.isEmpty { return Array(running) }
        }
        return upstream.map { [$0] } ?? []
    }

    private var cancelledCombination: (any CancelledCombination)? {
        guard case .children(let node) = work, isCancelled else { return nil }
        return node.withLock { $0.children?.combination }
    }
}
