extension TaskControl {
    /// The progress of this task and those it was derived from: the mean of their fractions, weighted by 10 for a stage
    /// that reports and by 1 for one that does not.
    var share: Share {
        var share = Share()
        var control: TaskControl? = self
        while let current = control {
            switch current.work {
            case .shared: break
            case .opaque: share.add(weight: 1, fraction: current.isEnded ? 1 : 0)
            case .reporting(let source): share.add(source, isEnded: current.isEnded)
            case .children(let children): share.add(children, isEnded: current.isEnded)
            }
            control = current.upstream
        }
        return share
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
