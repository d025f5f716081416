/// How a single stage of a chain of tasks comes by its progress.
@usableFromInline
package enum TaskWork: Sendable {
    /// Reports nothing; counts 1.
    case opaque
    /// Counts 10.
    case reporting(any FractionSource)
    /// What the closure starts; counts 10 if that reports, otherwise 1.
    case inner(InnerTask)

    func cancel() {
        switch self {
        case .opaque: break
        case .reporting(let source): source.cancel()
        case .inner(let task): task.cancel()
        }
    }

    func end() {
        if case .inner(let task) = self { task.end() }
    }
}

/// Where the progress of a root task comes from.
@usableFromInline
package protocol FractionSource: AnyObject, Sendable {
    /// From 0 to 1.
    var fraction: Double { get }

    /// Calls `body` after each change, from any thread.
    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch

    /// The task was cancelled.
    func cancel()
}
