/// How a single stage of a chain of tasks comes by its progress.
@usableFromInline
package enum TaskWork: Sendable {
    /// Reports nothing; counts 1.
    case opaque
    /// A Swift task; counts 1.
    case running(_Concurrency.Task<Void, Never>)
    /// Counts 10.
    case reporting(any FractionSource)
    /// What the stage starts, or was made of; counts 10 if any of that reports, otherwise 1.
    case children(ChildTasks)
    /// One consumer of a shared task; counts nothing.
    case shared

    /// Returns the tasks to be cancelled, too.
    func cancel() -> [TaskControl] {
        switch self {
        case .opaque, .shared:
            return []
        case .running(let task):
            task.cancel()
            return []
        case .reporting(let source):
            source.cancel()
            return []
        case .children(let children):
            return children.cancel()
        }
    }

    var isShared: Bool {
        if case .shared = self { true } else { false }
    }

    var hasChildren: Bool {
        if case .children = self { true } else { false }
    }
}

/// Where the progress of a root task comes from.
@usableFromInline
package protocol FractionSource: AnyObject, Sendable {
    /// From 0 to 1.
    var fraction: Double { get }

    /// What `fraction` stands for.
    var report: ProgressReport { get }

    /// Calls `body` after each change, from any thread.
    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch

    /// The task was cancelled.
    func cancel()
}

/// What a producer tells.
@usableFromInline
package struct ProgressReport: Sendable {
    /// 0 or more.
    let completed: Int64
    /// 0 or more; `nil` if the producer doesn't know it.
    let total: Int64?
    let unit: ProgressReporter.Unit
    /// From 0 to `completed`: what was done before.
    let resumed: Int64

    /// Takes any numbers: a negative total is one that is not known.
    init(completed: Int64, total: Int64?, unit: ProgressReporter.Unit, resumed: Int64 = 0) {
        self.completed = max(completed, 0)
        self.total = if let total, total >= 0 { total } else { nil }
        self.unit = unit
        self.resumed = min(max(resumed, 0), self.completed)
    }

    /// From 0 to 1. What is done of a total of 0 is all of it.
    var fraction: Double {
        guard let total, completed > 0 else { return 0 }
        return completed >= total ? 1 : Double(completed) / Double(total)
    }
}
