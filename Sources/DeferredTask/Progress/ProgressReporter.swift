internal import DeferredCore

/// Reports a producer's progress.
///
/// Pass it to ``Task/init(_:reporter:uponCancel:)-(_,_,(Task<Success>.Promise)->Void)`` and report from any thread; the
/// task's ``Task/progress`` and that of every task derived from it follow.
///
/// ```swift
/// let reporter = ProgressReporter(unit: .bytes)
/// let promise = Task<Int>.Promise()
/// let task = Task(promise, reporter: reporter)
/// reporter.report(completed: 512, of: 1024)
/// print(task.progress.fractionCompleted)  // 0.5
/// ```
public final class ProgressReporter: Sendable {
    /// The unit that a reporter counts in.
    public enum Unit: Sendable, Hashable {
        /// Items of any kind.
        case count
        /// Bytes.
        case bytes
    }

    /// The unit that the numbers are in.
    public let unit: Unit

    private struct State {
        var report: ProgressReport
        var watchers = NumberedList<@Sendable () -> Void>()
    }

    private let state: Lock<State>

    /// Creates a reporter of work of which nothing is completed.
    ///
    /// - Parameters:
    ///   - total: The number of units in all; `nil`, or negative, if it is not known.
    ///   - unit: The unit that the numbers are in.
    public init(total: Int64? = nil, unit: Unit = .count) {
        self.unit = unit
        state = Lock(State(report: ProgressReport(completed: 0, total: total, unit: unit)))
    }

    /// The number of completed units: 0 or more.
    public var completed: Int64 { report.completed }

    /// The number of units in all; `nil` if it is not known.
    public var total: Int64? { report.total }

    /// The number of completed units that date from before the task began.
    public var resumed: Int64 { report.resumed }

    /// Sets the completed and the total number of units.
    ///
    /// - Parameters:
    ///   - completed: Units completed so far, not since the last report. A negative number counts as 0, and more than
    ///     `total` as all of it.
    ///   - total: All units; `nil`, or negative, if not known, which counts as a fraction of 0 until the end.
    ///   - resumed: Units of `completed` that were completed before the task began, as by an earlier run of the
    ///     program. They count as completed, but not for the ``ProgressSnapshot/throughput``. A negative number counts
    ///     as 0, and more than `completed` as all of it.
    /// - Complexity: O(1), plus the observers, which are called before this returns; or, in handlers and observers that nest
    ///   more than 32 levels deep, before the outermost of them returns.
    public func report(completed: Int64, of total: Int64?, resumed: Int64 = 0) {
        change { _ in ProgressReport(completed: completed, total: total, unit: unit, resumed: resumed) }
    }

    /// Counts more units as completed, without changing the total. Concurrent calls lose none.
    ///
    /// - Parameter units: Negative to subtract, down to 0; above `Int64.max`, the count saturates.
    /// - Complexity: As ``report(completed:of:resumed:)``.
    public func add(_ units: Int64) {
        change { old in
            let completed = Int64(clamping: Int128(old.completed) + Int128(units))
            return ProgressReport(completed: completed, total: old.total, unit: unit, resumed: old.resumed)
        }
    }

    private func change(_ next: (ProgressReport) -> ProgressReport) {
        let watchers = state.withLock { state in
            state.report = next(state.report)
            return state.watchers.elements
        }
        for body in watchers { body() }
    }
}

extension ProgressReporter: ProgressSource {
    @usableFromInline
    package var report: ProgressReport { state.withLock { $0.report } }

    @usableFromInline
    package func watch(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = state.withLock { $0.watchers.append(body) }
        return { _ = self.state.withLock { $0.watchers.remove(number) } }
    }

    /// Does nothing: a reporter only reports.
    @usableFromInline
    package func cancel() {}
}
