public import DeferredCore

/// The source of a single stage's progress, and its weight.
@usableFromInline
package enum TaskWork: Sendable {
    /// Reports nothing; counts 1.
    case opaque
    /// A Swift task; counts 1.
    case running(_Concurrency.Task<Void, Never>)
    /// A stage that reports its own progress; counts 10.
    case reporting(any ProgressSource)
    /// The stage starts tasks, or was combined from them, which its node knows; counts 10 if any of them reports,
    /// otherwise 1.
    case children(TaskNode)
    /// One consumer of a shared task, of which this is the future; counts nothing.
    indirect case shared(UnownedFuture)
    /// Passes the result on; counts nothing.
    case passing

    @inlinable
    var isOpaque: Bool {
        if case .opaque = self { true } else { false }
    }
}

/// The source of a root task's progress.
@usableFromInline
package protocol ProgressSource: AnyObject, Sendable {
    /// The progress now.
    var report: ProgressReport { get }

    /// Calls `body` after each change, from any thread, until the closure that this returns is called.
    func watch(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    /// Notes that the task was cancelled.
    func cancel()
}

/// The progress that a producer reports.
@usableFromInline
package struct ProgressReport: Sendable {
    /// 0 or more.
    let completed: Int64
    /// 0 or more; `nil` if the producer doesn't know its total.
    let total: Int64?
    let unit: ProgressReporter.Unit
    /// From 0 to `completed`: the units that were completed before the task began.
    let resumed: Int64
    /// From 0 to 1.
    let fraction: Double

    /// Takes any numbers: a negative total counts as unknown.
    ///
    /// - Parameter fraction: By default that of the numbers. Anything completed of a total of 0 is all of it.
    init(completed: Int64, total: Int64?, unit: ProgressReporter.Unit, resumed: Int64 = 0, fraction: Double? = nil) {
        self.completed = max(completed, 0)
        self.total = if let total, total >= 0 { total } else { nil }
        self.unit = unit
        self.resumed = min(max(resumed, 0), self.completed)
        // Of a total of 0, this is infinite, or no number if nothing is completed.
        let part = self.total.map { Double(completed) / Double($0) }
        self.fraction = Fraction.clamped(fraction ?? part ?? 0)
    }
}
