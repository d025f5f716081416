extension TaskControl {
    /// The progress of this task and those it was derived from: the mean of their fractions, weighted by 10 for a stage
    /// that reports and by 1 for one that does not.
    ///
    /// What has ended counts in full, and what has failed as far as it came. Keeps no control.
    var share: Share {
        // With a stack of its own, for children may be nested as deeply as a recursive `flatMap` has turns.
        var sums = [Sum(share: Share(), remaining: .chain(self))]
        // Where tasks of one stage are children of another by several ways, and so on, there are 2ⁿ ways.
        var known: [ObjectIdentifier: (children: ChildTasks, share: Share)] = [:]
        while true {
            let top = sums.count - 1
            switch sums[top].remaining {
            case .chain(let control?):
                sums[top].remaining = .chain(control.upstream)
                switch control.work {
                case .shared: break
                case .opaque, .running: sums[top].share.addStages(1, fraction: control.isDone ? 1 : 0)
                case .reporting(let source): sums[top].share.add(source, isDone: control.isDone)
                case .children(let children):
                    if let known = known[ObjectIdentifier(children)] {
                        sums[top].share.add(childrenOfStage: known.share, isDone: control.isDone)
                        continue
                    }
                    let (share, running) = children.parts
                    let remaining = Sum.Remaining.children(children, running, next: 0, isDone: control.isDone)
                    sums.append(Sum(share: share, remaining: remaining))
                }
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

    /// This control, those upstream, and those of children, each once: for the moment, not to be kept.
    var parts: [TaskControl] {
        var parts: [TaskControl] = []
        var seen: Set<ObjectIdentifier> = []
        var unseen = [self]
        while let next = unseen.popLast() {
            var control: TaskControl? = next
            while let current = control, seen.insert(ObjectIdentifier(current)).inserted {
                parts.append(current)
                if case .children(let children) = current.work { unseen += children.running }
                control = current.upstream
            }
        }
        return parts
    }
}
