public import DeferredCore

/// The source of a single stage's progress, and its weight.
@usableFromInline
package enum TaskWork: Sendable {
    /// Reports nothing; counts 1.
    case opaque
    /// A Swift task; counts 1.
    case running(_Concurrency.Task<Void, Never>)
    /// A stage that reports its own progress; counts 10.
    case reporting(any FractionSource)
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
package protocol FractionSource: AnyObject, Sendable {
    /// From 0 to 1.
    var fraction: Double { get }

    /// The numbers behind `fraction`.
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

    /// Takes any numbers: a negative total counts as unknown.
    init(completed: Int64, total: Int64?, unit: ProgressReporter.Unit, resumed: Int64 = 0) {
        self.completed = max(completed, 0)
        self.total = if let total, total >= 0 { total } else { nil }
        self.unit = unit
        self.resumed = min(max(resumed, 0), self.completed)
    }

    /// From 0 to 1. Anything completed of a total of 0 is all of it.
    var fraction: Double {
        guard let total, completed > 0 else { return 0 }
        return completed >= total ? 1 : Double(completed) / Double(total)
    }
}
