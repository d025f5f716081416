/// The completed part of one chain of tasks, or of several.
struct Share: Sendable {
    /// Units of one kind, as producers report them.
    struct Amount: Sendable {
        var completed: Int64 = 0
        /// `nil` if some producer doesn't know its total.
        var total: Int64? = 0
        /// The units that were completed before the tasks began.
        var resumed: Int64 = 0
        var isReported = false
    }

    static let reportingWeight = 10.0

    private(set) var weight = 0.0
    private(set) var done = 0.0
    /// The weight of the children by their bytes; `nil` once a child doesn't count bytes, or doesn't know how many.
    private var byteWeight: Double? = 0
    private var bytesDone = 0.0
    var isReporting = false
    /// True if any of the reporting stages has ended, or knows its total.
    private(set) var isDetermined = false
    var bytes = Amount()
    var items = Amount()

    /// From 0 to 1.
    var fraction: Double {
        if let byteWeight, byteWeight > 0 { return min(bytesDone / byteWeight, 1) }
        return weight == 0 ? 0 : min(done / weight, 1)
    }

    /// True if every stage that reports does so without knowing its total.
    var isIndeterminate: Bool { isReporting && !isDetermined }

    /// Adds stages, or children, that report no progress.
    mutating func addStages(_ count: Double, fraction: Double) {
        add(weight: count, fraction: fraction)
        byteWeight = nil
    }

    /// Adds a child; if `isDone`, it counts as completed whatever it reports.
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

    /// Adds a stage that reports its own progress.
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

    /// Adds a stage that is as complete as its children.
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
