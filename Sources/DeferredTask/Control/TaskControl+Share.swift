extension TaskControl {
    /// The progress of this task and those it was derived from: the mean of their fractions, weighted by 10 for a stage
    /// that reports and by 1 for one that does not.
    ///
    /// Stages that have succeeded count in full, and failed ones as far as they came. Keeps no control.
    var share: Share {
        var share = Share()
        // Most chains have no children. Each stage keeps the previous one, so that none has to be retained while it is
        // read.
        var current: Unmanaged<TaskControl>? = .passUnretained(self)
        while let control = current, control._withUnsafeGuaranteedRef({ share.add($0) }) {
            current = control._withUnsafeGuaranteedRef {
                share.addEndedStages(before: $0)
                return $0.previous.map(Unmanaged.passUnretained)
            }
        }
        return current.map { Self.share(of: $0.takeUnretainedValue(), added: share) } ?? share
    }

    /// The progress of the tasks that this one was derived from.
    var shareBefore: Share {
        var share = previous?.share ?? Share()
        share.addEndedStages(before: self)
        return share
    }

    /// Returns the share of a chain that has children, of which some stages were added already.
    private static func share(of control: TaskControl, added share: Share) -> Share {
        // With an explicit stack, since children may be nested as deeply as a recursive `flatMap` has turns.
        var sums = [Sum(share: share, remaining: .chain(control))]
        // Where tasks of one stage are children of another in several ways, and so on, there are 2ⁿ paths.
        var known: [ObjectIdentifier: (children: ChildTasks, share: Share)] = [:]
        while true {
            let top = sums.count - 1
            switch sums[top].remaining {
            case .chain(let control?):
                sums[top].remaining = .chain(control.previous)
                sums[top].share.addEndedStages(before: control)
                guard !sums[top].share.add(control), let children = control.children else { continue }
                if let known = known[ObjectIdentifier(children)] {
                    sums[top].share.add(childrenOfStage: known.share, isDone: control.isDone)
                    continue
                }
                // A task that waits for itself is its own child: it counts as nothing there.
                known[ObjectIdentifier(children)] = (children, Share())
                let (share, running) = children.parts
                let remaining = Sum.Remaining.children(children, running, next: 0, isDone: control.isDone)
                sums.append(Sum(share: share, remaining: remaining))
            case .children(let children, let running, let next, let isDone) where next < running.count:
                sums[top].remaining = .children(children, running, next: next + 1, isDone: isDone)
                sums.append(Sum(share: Share(), remaining: .chain(running[next])))
            case .children(let children, _, _, let isDone):
                let sum = sums.removeLast()
                known[ObjectIdentifier(children)] = (children, sum.share)
                sums[top - 1].share.add(childrenOfStage: sum.share, isDone: isDone)
            case .chain(nil):
                let sum = sums.removeLast()
                if sums.isEmpty { return sum.share }
                sums[top - 1].share.add(sum.share)
            }
        }
    }

    /// A sum that is not complete yet.
    private struct Sum {
        enum Remaining {
            /// The stages of a chain, from here on upstream.
            case chain(TaskControl?)
            /// The children of one stage.
            case children(ChildTasks, [TaskControl], next: Int, isDone: Bool)
        }

        var share: Share
        var remaining: Remaining
    }

    /// This control, those upstream, and those of children, each once. Not to be kept for long.
    var parts: [TaskControl] {
        var parts: [TaskControl] = []
        // Most chains have no children, so that no control can occur twice.
        var plain: TaskControl? = self
        while let control = plain, control.children == nil {
            parts.append(control)
            plain = control.previous
        }
        guard let first = plain else { return parts }
        var seen = Set(parts.map(ObjectIdentifier.init))
        var unseen = [first]
        while let next = unseen.popLast() {
            var control: TaskControl? = next
            while let current = control, seen.insert(ObjectIdentifier(current)).inserted {
                parts.append(current)
                if case .children(let children) = current.work { unseen += children.running }
                control = current.previous
            }
        }
        return parts
    }
}

extension Share {
    /// Adds the plain stages before `control` that had ended when somebody asked for the progress for the first time.
    ///
    /// Nobody knows any more how each of them ended. They count in full if the stage that they led to succeeded, or the
    /// task that they came from, and otherwise as nothing. The others have controls.
    fileprivate mutating func addEndedStages(before control: TaskControl) {
        guard let count = control.endedCount else { return }
        addStages(Double(count), fraction: control.isDone || control.upstream?.isDone == true ? 1 : 0)
    }

    /// Adds a stage. Returns false for a stage with children, which is not added.
    fileprivate mutating func add(_ control: TaskControl) -> Bool {
        switch control.work {
        case .shared, .passing: break
        case .opaque, .running: addStages(1, fraction: control.isDone ? 1 : 0)
        case .reporting(let source): add(source, isDone: control.isDone)
        case .children: return false
        }
        return true
    }
}
