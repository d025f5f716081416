extension TaskControl {
    /// The progress of this task and those it was derived from: the mean of their fractions, weighted by 10 for a stage
    /// that reports and by 1 for one that does not.
    var share: Share {
        // With a stack of its own, for children may be nested as deeply as a recursive `flatMap` has turns.
        var sums = [Sum(share: Share(), remaining: .chain(self))]
        while true {
            let top = sums.count - 1
            switch sums[top].remaining {
            case .chain(let control?):
                sums[top].remaining = .chain(control.upstream)
                switch control.work {
                case .shared: break
                case .opaque, .running: sums[top].share.add(weight: 1, fraction: control.isEnded ? 1 : 0)
                case .reporting(let source): sums[top].share.add(source, isEnded: control.isEnded)
                case .children(let children):
                    let (share, running) = children.parts
                    sums.append(Sum(share: share, remaining: .children(running, next: 0, isEnded: control.isEnded)))
                }
            case .children(let children, let next, let isEnded) where next < children.count:
                sums[top].remaining = .children(children, next: next + 1, isEnded: isEnded)
                sums.append(Sum(share: Share(), remaining: .chain(children[next])))
            case .children(_, _, let isEnded):
                let sum = sums.removeLast()
                sums[top - 1].share.add(childrenOfStage: sum.share, isEnded: isEnded)
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
            case children([TaskControl], next: Int, isEnded: Bool)
        }

        var share: Share
        var remaining: Remaining
    }

    /// This control, those upstream, and those of children.
    var parts: [TaskControl] {
        var parts: [TaskControl] = []
        var unseen = [self]
        while let next = unseen.popLast() {
            var control: TaskControl? = next
            while let current = control {
                parts.append(current)
                if case .children(let children) = current.work { unseen += children.running }
                control = current.upstream
            }
        }
        return parts
    }
}
