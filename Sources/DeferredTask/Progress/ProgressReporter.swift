internal import DeferredCore

/// A producer's way to report how far it is.
///
/// Hand it to ``Task/init(_:reporter:uponCancel:)`` and report from any thread; the task's ``Task/progress`` and that of
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

    private let state: Lock<(completed: Int64, total: Int64?)>
    private let watchers = Watchers()

    /// Creates a reporter of which nothing is completed.
    ///
    /// - Parameters:
    ///   - total: How many units there are, if that is known.
    ///   - unit: What the numbers count.
    public init(total: Int64? = nil, unit: Unit = .count) {
        self.unit = unit
        state = Lock((0, total))
    }

    /// How many units are done.
    public var completed: Int64 { state.withLock { $0.completed } }

    /// How many units there are; `nil` if that is not known.
    public var total: Int64? { state.withLock { $0.total } }

    /// Sets how much is done, and of how much.
    ///
    /// - Parameters:
    ///   - completed: Units done so far, not since the last report.
    ///   - total: All units; `nil` if that is not known, which counts as a fraction of 0 until the end.
    /// - Complexity: O(1), plus the observers, which are called before this returns.
    public func report(completed: Int64, of total: Int64?) {
        state.withLock { $0 = (completed, total) }
        watchers.notify()
    }

    /// Counts more units as done, of as many as before. From several threads, none is lost.
    ///
    /// - Complexity: As ``report(completed:of:)``.
    public func add(_ units: Int64) {
        state.withLock { $0.completed += units }
        watchers.notify()
    }
}

extension ProgressReporter: FractionSource {
    @usableFromInline
    package var fraction: Double {
        let (completed, total) = state.withLock { $0 }
        guard let total, total > 0 else { return 0 }
        return Double(completed) / Double(total)
    }

    @usableFromInline
    package var report: ProgressReport {
        let (completed, total) = state.withLock { $0 }
        return ProgressReport(completed: completed, total: total, unit: unit)
    }

    @usableFromInline
    package func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch { watchers.add(body) }

    /// Nothing: a reporter only reports.
    @usableFromInline
    package func cancel() {}
}
