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

    @inlinable
    var isShared: Bool {
        if case .shared = self { true } else { false }
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
    let completed: Int64
    /// `nil` if the producer doesn't know it.
    let total: Int64?
    let unit: ProgressReporter.Unit
}
