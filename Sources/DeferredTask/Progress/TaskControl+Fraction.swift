extension TaskControl {
    /// How much of a chain is done.
    struct Share {
        var weight = 0.0
        var done = 0.0
        var isReporting = false

        var fraction: Double { weight == 0 ? 0 : min(done / weight, 1) }

        mutating func add(_ weight: Double, _ fraction: Double) {
            self.weight += weight
            done += weight * min(max(fraction, 0), 1)
        }
    }

    static let reportingWeight = 10.0

    /// The progress of this task and those it was derived from: the mean of their fractions, weighted by 10 for a stage
    /// that reports and by 1 for one that does not.
    var share: Share {
        var share = Share()
        var control: TaskControl? = self
        while let current = control {
            switch current.work {
            case .opaque:
                share.add(1, current.isEnded ? 1 : 0)
            case .reporting(let source):
                share.isReporting = true
                share.add(Self.reportingWeight, current.isEnded ? 1 : source.fraction)
            case .inner(let task):
                let inner = task.control?.share
                let isReporting = inner?.isReporting ?? false
                share.isReporting = share.isReporting || isReporting
                share.add(isReporting ? Self.reportingWeight : 1, current.isEnded ? 1 : inner?.fraction ?? 0)
            }
            control = current.upstream
        }
        return share
    }

    /// This control, those upstream, and those of inner tasks.
    var parts: [TaskControl] {
        var parts: [TaskControl] = []
        var control: TaskControl? = self
        while let current = control {
            parts.append(current)
            if case .inner(let task) = current.work, let inner = task.control { parts += inner.parts }
            control = current.upstream
        }
        return parts
    }
}
