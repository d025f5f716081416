/// The completed part of tasks, as a sum to which shares are added, and from which they are subtracted.
///
/// - The share of a chain adds its stages: one that reports progress weighs 10, one that does not weighs 1, and one that
///   only passes on what others report weighs nothing.
/// - The share of children adds chains (``asChild(isDone:)``). Each weighs as much as its stages, where a stage that is
///   itself a combination weighs 10 for each producer that reports in it, so that a group of nine files weighs as much as
///   nine files. Children that have not started weigh as much as the others on average, and so do those in which a stage
///   has not started its own, as long as that is more than what is known of them. Once all children have told how many bytes
///   they have, each weighs as much as its bytes.
/// - The share of a stage with children is made of theirs (``asStage(expected:isDone:)``).
struct Share: Sendable {
    /// The units of one kind that producers report.
    struct Units: Sendable {
        // Wider than what is reported, so that what was added can be subtracted.
        var completed: Int128 = 0
        var total: Int128 = 0
        var resumed: Int128 = 0
        /// The number of producers that report them.
        var producers = 0
        /// The number of producers that don't know their total, or have not started.
        var unknown = 0

        fileprivate mutating func add(_ part: Units, _ sign: Int) {
            guard part.producers > 0 || part.unknown > 0 else { return }
            completed &+= Int128(sign) &* part.completed
            total &+= Int128(sign) &* part.total
            resumed &+= Int128(sign) &* part.resumed
            producers &+= sign &* part.producers
            unknown &+= sign &* part.unknown
        }
    }

    static let reportingWeight = 10.0

    /// The weight of all parts.
    private(set) var weight = 0.0
    /// The weight that is completed.
    private(set) var done = 0.0
    /// The weight of the stages that report nothing.
    private var plain = 0.0
    /// The number of producers that report, including an estimate of those to come.
    private var producers = 0.0
    /// The number of reporting producers that have ended, or know their total.
    private var determined = 0
    private(set) var bytes = Units()
    private(set) var items = Units()
    /// The number of stages that wait for children of which none is known yet.
    private var undecided = 0

    /// The number of children, and of those that don't count bytes, or don't know how many.
    private(set) var (children, unsized) = (0, 0)
    /// The children with undecided stages, and the part of `weight` and `producers` that is theirs.
    private var (open, openWeight, openProducers) = (0, 0.0, 0.0)
    /// The bytes of the other children, and the completed part of these, in fractions of a byte. Whole numbers, so that what
    /// was added can be subtracted.
    private var (size, sizeDone) = (Int128(), Int128())
    private static let fractionsOfByte = 4_294_967_296.0

    /// The share of stages that report nothing.
    static func stages(_ count: Int, isDone: Bool) -> Share {
        var share = Share()
        share.plain = Double(count)
        share.setWeight(share.plain, fraction: isDone ? 1 : 0)
        return share
    }

    /// The share of a stage that reports its own progress.
    static func reporting(_ source: some ProgressSource, isDone: Bool) -> Share {
        let report = source.report
        var share = Share()
        share.producers = 1
        share.determined = isDone || report.total != nil ? 1 : 0
        share.setWeight(reportingWeight, fraction: isDone ? 1 : report.fraction)
        var units = Units(report)
        // Of one that has ended, what has come is all.
        if isDone, report.total == nil { (units.total, units.unknown) = (units.completed, 0) }
        switch report.unit {
        case .bytes: share.bytes = units
        case .count: share.items = units
        }
        return share
    }

    /// The share of a chain as part of a combination.
    ///
    /// - Parameter isDone: Whether the chain counts as completed whatever it has reported.
    func asChild(isDone: Bool = false) -> Share {
        var child = self
        let fraction = isDone ? 1 : fraction
        child.setWeight(plain + Self.reportingWeight * producers, fraction: fraction)
        if isDone, producers > 0 { child.determined = max(determined, 1) }
        child.children = 1
        if isDone { child.undecided = 0 }
        if child.undecided > 0 { (child.open, child.openWeight, child.openProducers) = (1, child.weight, producers) }
        if bytes.producers > 0, bytes.unknown == 0, items.producers == 0 {
            // No more than what can be counted with as many children as there may be.
            let size = min(Double(bytes.total), 0x1p64) * Self.fractionsOfByte
            (child.size, child.sizeDone) = (Int128(size), Int128(size * fraction))
        } else {
            child.unsized = 1
        }
        return child
    }

    /// The share of the completed part of a chain, the rest of which counts as the child.
    func asPartOfChild() -> Share {
        var part = asChild()
        (part.children, part.open, part.openWeight, part.openProducers) = (0, 0, 0, 0)
        if producers == 0 { part.unsized = 0 }
        return part
    }

    /// The share of a stage that is as complete as its children, whose shares this adds up.
    ///
    /// - Parameter expected: The number of children that have not started.
    func asStage(expected: Int, isDone: Bool) -> Share {
        var stage = self
        let isReporting = producers > 0
        // The children to come are taken for as heavy as the others on average, and so are the open ones, if others report.
        let known = children &- open
        func estimate(_ sum: Double, _ open: Double) -> Double {
            guard children > 0 else { return sum }
            let mean = isReporting && known > 0 ? (sum - open) / Double(known) : 0
            return (sum - open + max(open, mean * Double(self.open))) * (1 + Double(expected) / Double(children))
        }
        stage.plain = isReporting ? 0 : 1
        stage.producers = estimate(producers, openProducers)
        if isDone, isReporting { stage.determined = max(determined, 1) }
        let isSized = expected == 0 && unsized == 0 && size > 0
        // Behind the completed part of a chain, there is something to come.
        let all = children > 0 ? estimate(weight, openWeight) : weight + Double(expected)
        let fraction = isSized ? Double(sizeDone) / Double(size) : all > 0 ? done / all : 0
        stage.setWeight(isReporting ? Self.reportingWeight : 1, fraction: isDone ? 1 : fraction)
        stage.undecided = !isDone && known == 0 && (children > 0 || expected > 0) ? 1 : 0
        if expected > 0 {
            stage.bytes.unknown &+= 1
            stage.items.unknown &+= 1
        }
        (stage.children, stage.unsized, stage.size, stage.sizeDone) = (0, 0, 0, 0)
        (stage.open, stage.openWeight, stage.openProducers) = (0, 0, 0)
        return stage
    }

    private mutating func setWeight(_ weight: Double, fraction: Double) {
        self.weight = weight
        done = weight * Fraction.clamped(fraction)
    }

    static func += (sum: inout Share, part: Share) { sum.add(part, 1) }
    static func -= (sum: inout Share, part: Share) { sum.add(part, -1) }

    private mutating func add(_ part: Share, _ sign: Int) {
        let factor = Double(sign)
        weight += factor * part.weight
        done += factor * part.done
        plain += factor * part.plain
        producers += factor * part.producers
        determined &+= sign &* part.determined
        bytes.add(part.bytes, sign)
        items.add(part.items, sign)
        undecided &+= sign &* part.undecided
        children &+= sign &* part.children
        open &+= sign &* part.open
        openWeight += factor * part.openWeight
        openProducers += factor * part.openProducers
        unsized &+= sign &* part.unsized
        size &+= Int128(sign) &* part.size
        sizeDone &+= Int128(sign) &* part.sizeDone
    }

    /// From 0 to 1, of a chain.
    var fraction: Double { weight > 0 ? Fraction.clamped(done / weight) : 0 }

    /// True if every stage that reports does so without knowing its total.
    var isIndeterminate: Bool { producers > 0 && determined == 0 }

    /// The units of the snapshot: bytes if any producer reports bytes, otherwise items.
    var reported: Units { bytes.producers > 0 ? bytes : items }
}

extension Share.Units {
    fileprivate init(_ report: ProgressReport) {
        self.init(
            completed: Int128(report.completed),
            total: Int128(report.total ?? 0),
            resumed: Int128(report.resumed),
            producers: 1,
            unknown: report.total == nil ? 1 : 0
        )
    }
}

/// Arithmetic with fractions from outside the package.
enum Fraction {
    /// Returns `fraction` clamped to 0 through 1; NaN counts as 0.
    static func clamped(_ fraction: Double) -> Double { fraction > 0 ? min(fraction, 1) : 0 }
}
