internal import DeferredCore

/// The progress of a task at one moment. See ``Task/uponProgress(on:execute:)-(Executor,_)`` and
/// ``Task/progressUpdates``.
///
/// ```swift
/// task.uponProgress(on: .main) { snapshot in
///     bar.fraction = snapshot.fraction
///     label.text = snapshot.description  // 45 %, 1.20 MB of 2.70 MB, 300 kB/s, 0:05 left
/// }
/// ```
public struct ProgressSnapshot: Sendable, Hashable {
    /// The fraction from 0 to 1, which is 1 only when the task has succeeded. It never decreases. See ``Task/progress``
    /// for the weights of the stages of a chain.
    public let fraction: Double

    /// Units completed, of all producers that report them: bytes if any of them counts bytes, otherwise items. 0 if
    /// none reports. It decreases when something starts over, such as a download that could not be resumed.
    public let completed: Int64

    /// Units in all; `nil` if some producer does not know its total, or has not started.
    public let total: Int64?

    /// The unit of ``completed`` and ``total``.
    public let unit: ProgressReporter.Unit

    /// Units of ``completed`` that were completed before the task began, such as the part of a file that an earlier
    /// download left.
    public let resumed: Int64

    /// Units per second over the last five seconds, without those that were ``resumed``; `nil` before there is anything
    /// to measure.
    public let throughput: Double?

    /// Creates a snapshot, for tests of code that shows it. The parameters are the properties. The fraction is at least 0
    /// and at most 1; without a number, it is 0.
    public init(
        fraction: Double,
        completed: Int64,
        total: Int64?,
        unit: ProgressReporter.Unit,
        resumed: Int64 = 0,
        throughput: Double? = nil
    ) {
        self.fraction = Fraction.clamped(fraction)
        self.completed = completed
        self.total = total
        self.unit = unit
        self.resumed = resumed
        // Equal to itself, unlike what is no number.
        self.throughput = throughput.map { $0.isNaN ? 0 : $0 }
    }

    /// The time that the rest would take at this ``throughput``; `nil` if that or the ``total`` is not known, or the
    /// throughput is 0.
    public var estimatedTimeRemaining: Duration? {
        guard let total, let throughput, throughput > 0 else { return nil }
        let seconds = Double(max(Int128(total) - Int128(completed), 0)) / throughput
        return seconds < 1e12 ? .seconds(seconds) : nil
    }
}

extension ProgressSnapshot: CustomStringConvertible {
    /// One line in decimal units, with the parts that are known: `45 %, 1.20 MB of 2.70 MB, 300 kB/s, 0:05 left`.
    public var description: String {
        // 0.29 * 100 is less than 29; and not all is done before all is done.
        var parts = ["\(fraction < 1 ? min(Int(fraction * 100 + 1e-9), 99) : 100) %"]
        if completed > 0 || total != nil {
            parts.append(text(of: completed) + (total.map { " of \(text(of: $0))" } ?? ""))
        }
        if let throughput {
            parts.append(unit == .bytes ? ProgressText.rate(throughput) : "\(ProgressText.wholeRate(throughput))/s")
        }
        if fraction < 1, let time = estimatedTimeRemaining { parts.append("\(ProgressText.duration(time)) left") }
        return parts.joined(separator: ", ")
    }

    private func text(of count: Int64) -> String {
        unit == .bytes ? ProgressText.bytes(count) : "\(count)"
    }
}

extension ProgressSnapshot {
    init(fraction: Double, share: Share, throughput: Double?) {
        let units = share.reported
        self.init(
            fraction: fraction,
            completed: Int64(clamping: units.completed),
            total: units.producers > 0 && units.unknown == 0 ? Int64(clamping: units.total) : nil,
            unit: share.bytes.producers > 0 ? .bytes : .count,
            resumed: Int64(clamping: units.resumed),
            throughput: throughput
        )
    }
}
