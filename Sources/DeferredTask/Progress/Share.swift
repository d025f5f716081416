/// How much of a chain of tasks, or of several, is done.
struct Share: Sendable {
    /// Units of one kind, as producers report them.
    struct Amount: Sendable {
        var completed: Int64 = 0
        /// `nil` if some producer doesn't know it.
        var total: Int64? = 0
        var isReported = false
    }

    static let reportingWeight = 10.0

    private(set) var weight = 0.0
    private(set) var done = 0.0
    var isReporting = false
    var bytes = Amount()
    var items = Amount()

    var fraction: Double { weight == 0 ? 0 : min(done / weight, 1) }

    mutating func add(weight: Double, fraction: Double) {
        self.weight += weight
        done += weight * min(max(fraction, 0), 1)
    }

    /// Adds a part, which is done whatever it tells if it has ended.
    mutating func add(_ part: Share, isEnded: Bool = false) {
        add(weight: part.weight, fraction: isEnded ? 1 : part.fraction)
        addAmounts(of: part)
    }

    /// Adds a stage that reports progress by itself.
    mutating func add(_ source: some FractionSource, isEnded: Bool) {
        isReporting = true
        add(weight: Self.reportingWeight, fraction: isEnded ? 1 : source.fraction)
        let report = source.report
        switch report.unit {
        case .bytes: bytes.add(Amount(completed: report.completed, total: report.total, isReported: true))
        case .count: items.add(Amount(completed: report.completed, total: report.total, isReported: true))
        }
    }

    /// Adds a stage that is as far as its children are.
    mutating func add(childrenOfStage children: Share, isEnded: Bool) {
        add(weight: children.isReporting ? Self.reportingWeight : 1, fraction: isEnded ? 1 : children.fraction)
        addAmounts(of: children)
    }

    private mutating func addAmounts(of part: Share) {
        isReporting = isReporting || part.isReporting
        bytes.add(part.bytes)
        items.add(part.items)
    }
}

extension Share.Amount {
    mutating func add(_ other: Self) {
        completed = completed.addingReportingOverflow(other.completed).partialValue
        total = if let total, let more = other.total { total.addingReportingOverflow(more).partialValue } else { nil }
        isReported = isReported || other.isReported
    }
}
