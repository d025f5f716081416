public import DeferredCore

/// A transform of results that can be cancelled before its closure begins.
@usableFromInline
protocol TaskTransform: Transform where Output == Result<NewSuccess, any Error> {
    associatedtype NewSuccess: Sendable
}

extension TaskTransform {
    @inlinable
    static var isCancellable: Bool { true }

    @inlinable
    static func cancelled() -> Output { .failure(CancellationError()) }

    @inlinable
    static func isFailure(_ output: Output) -> Bool { output.isFailure }

    @inlinable
    static func ended(_ attached: AnyObject) { TaskState.end(attached) }

    @inlinable
    static func circular() -> Output? { .failure(CircularTask()) }
}

extension Task {
    /// Creates the task that an operator returns.
    @inlinable
    func derive<T: TaskTransform, E: Executor>(
        _ executor: E,
        _ transform: T,
        _ work: TaskWork = .opaque
    ) -> Task<T.NewSuccess> where T.Input == Result {
        let stage = Stage(executor, transform, upstream: storage)
        // Before the stage starts, since it may end immediately.
        let control = TaskControl(stage, stage.words, work, isStage: true, upstream: control)
        let task = Task<T.NewSuccess>(stage, control)
        storage.start(stage)
        return task
    }
}

/// The error of a task that would wait for itself: the closure of its `flatMap` or `fallback` returned the task itself,
/// or one derived from it.
///
/// ```swift
/// var task: Task<Int>?
/// task = first.flatMap { _ in task! }  // fails with CircularTask
/// ```
///
/// The cycle is detected when the returned task is derived by operators that pass results on, such as `map`; a task
/// that waits in another way, as in `allSucceeded()`, is not detected, and never ends.
public struct CircularTask: Error, Hashable, CustomStringConvertible {
    /// Creates an error.
    public init() {}

    /// One line for a log.
    public var description: String {
        "the closure of flatMap or fallback returned the task that the operator itself created, or one derived "
            + "from it, which would wait for itself"
    }
}
