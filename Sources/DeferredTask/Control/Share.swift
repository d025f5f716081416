/// How much of a chain of tasks, or of several, is done.
struct Share: Sendable {
    /// Units of one kind, as producers report them.
    struct Amount: Sendable {
        var completed: Int64 = 0
        /// `nil` if some producer doesn't know it.
        var total: Int64? = 0
        /// What was done before the tasks began.
        var resumed: Int64 = 0
        var isReported = false
    }

    static let reportingWeight = 10.0

    private(set) var weight = 0.0
    private(set) var done = 0.0
    /// The same of children by their bytes; `nil` weight once there is a child that doesn't count bytes, or not how many.
    private var byteWeight: Double? = 0
    private var bytesDone = 0.0
    var isReporting = false
    /// Whether any of those that report has ended, or knows its total.
    private(set) var isDetermined = false
    var bytes = Amount()
    var items = Amount()

    /// From 0 to 1.
    var fraction: Double {
        if let byteWeight, byteWeight > 0 { return min(bytesDone / byteWeight, 1) }
        return weight == 0 ? 0 : min(done / weight, 1)
    }

    /// Whether all that report only do so without knowing their totals.
    var isIndeterminate: Bool { isReporting && !isDetermined }

    /// Adds stages, or children, that report nothing.
    mutating func addStages(_ count: Double, fraction: Double) {
        add(weight: count, fraction: fraction)
        byteWeight = nil
    }

    /// Adds a child, which is done whatever it tells if `isDone`.
    mutating func add(_ child: Share, isDone: Bool = false) {
        let fraction = isDone ? 1 : child.fraction
        add(weight: child.weight, fraction: fraction)
        if let total = child.bytes.total, total > 0, child.bytes.isReported, !child.items.isReported {
            byteWeight = byteWeight.map { $0 + Double(total) }
            bytesDone += Double(total) * fraction
        } else {
            byteWeight = nil
        }
        addAmounts(of: child, isDone: isDone)
    }

    /// Adds a stage that reports progress by itself.
    mutating func add(_ source: some FractionSource, isDone: Bool) {
        let (report, fraction) = (source.report, source.fraction)
        isReporting = true
        isDetermined = isDetermined || isDone || report.total != nil
        add(weight: Self.reportingWeight, fraction: isDone ? 1 : fraction)
        switch report.unit {
        case .bytes: bytes.add(Amount(report))
        case .count: items.add(Amount(report))
        }
    }

    /// Adds a stage that is as far as its children are.
    mutating func add(childrenOfStage children: Share, isDone: Bool) {
        add(weight: children.isReporting ? Self.reportingWeight : 1, fraction: isDone ? 1 : children.fraction)
        addAmounts(of: children, isDone: isDone)
    }

    private mutating func add(weight: Double, fraction: Double) {
        self.weight += weight
        done += weight * Fraction.clamped(fraction)
    }

    private mutating func addAmounts(of part: Share, isDone: Bool) {
        isReporting = isReporting || part.isReporting
        isDetermined = isDetermined || part.isReporting && (isDone || part.isDetermined)
        bytes.add(part.bytes)
        items.add(part.items)
    }
}

extension Share.Amount {
    init(_ report: ProgressReport) {
        self.init(completed: report.completed, total: report.total, resumed: report.resumed, isReported: true)
    }

    mutating func add(_ other: Self) {
        completed = completed.addingSaturated(other.completed)
        total = if let total, let more = other.total { total.addingSaturated(more) } else { nil }
        resumed = resumed.addingSaturated(other.resumed)
        isReported = isReported || other.isReported
    }
}
