internal import DeferredCore

/// A producer's way to report how far it is.
///
/// Hand it to ``Task/init(_:reporter:uponCancel:)-(_,_,(Task<Success>.Promise)->Void)`` and report from any thread; the task's ``Task/progress`` and that of
/// every task derived from it follow.
///
/// ```swift
/// let reporter = ProgressReporter(unit: .bytes)
/// let promise = Task<Int>.Promise()
/// let task = Task(promise, reporter: reporter)
/// reporter.report(completed: 512, of: 1024)
/// print(task.progress.fractionCompleted)  // 0.5
/// ```
public final class ProgressReporter: Sendable {
    /// What the numbers count.
    public enum Unit: Sendable, Hashable {
        /// Items of any kind.
        case count
        /// Bytes.
        case bytes
    }

    /// What the numbers count.
    public let unit: Unit

    private let state: Lock<ProgressReport>
    private let watchers = Watchers()

    /// Creates a reporter of which nothing is completed.
    ///
    /// - Parameters:
    ///   - total: How many units there are; `nil`, or negative, if that is not known.
    ///   - unit: What the numbers count.
    public init(total: Int64? = nil, unit: Unit = .count) {
        self.unit = unit
        state = Lock(ProgressReport(completed: 0, total: total, unit: unit))
    }

    /// How many units are done: 0 or more.
    public var completed: Int64 { state.withLock { $0.completed } }

    /// How many units there are; `nil` if that is not known.
    public var total: Int64? { state.withLock { $0.total } }

    /// How many of the units that are done were done before the task began.
    public var resumed: Int64 { state.withLock { $0.resumed } }

    /// Sets how much is done, and of how much.
    ///
    /// - Parameters:
    ///   - completed: Units done so far, not since the last report. Negative counts as 0, and more than `total` as all.
    ///   - total: All units; `nil`, or negative, if that is not known, which counts as a fraction of 0 until the end.
    ///   - resumed: Units of `completed` that were done before the task began, as by an earlier run of the program.
    ///     They count as done, but not for the ``ProgressSnapshot/throughput``. Negative counts as 0, and more than
    ///     `completed` as all of it.
    /// - Complexity: O(1), plus the observers, which are called before this returns.
    public func report(completed: Int64, of total: Int64?, resumed: Int64 = 0) {
        state.withLock { $0 = ProgressReport(completed: completed, total: total, unit: unit, resumed: resumed) }
        watchers.notify()
    }

    /// Counts more units as done, of as many as before. From several threads, none is lost.
    ///
    /// - Parameter units: Negative to take some back, down to 0; beyond `Int64.max`, the count stays there.
    /// - Complexity: As ``report(completed:of:resumed:)``.
    public func add(_ units: Int64) {
        state.withLock { state in
            let completed = state.completed.addingSaturated(units)
            state = ProgressReport(completed: completed, total: state.total, unit: unit, resumed: state.resumed)
        }
        watchers.notify()
    }
}

extension ProgressReporter: FractionSource {
    @usableFromInline
    package var fraction: Double { report.fraction }

    @usableFromInline
    package var report: ProgressReport { state.withLock { $0 } }

    @usableFromInline
    package func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch { watchers.add(body) }

    /// Nothing: a reporter only reports.
    @usableFromInline
    package func cancel() {}
}
