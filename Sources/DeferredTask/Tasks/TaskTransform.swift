public import DeferredCore

/// A transform of results that can be cancelled before its closure begins.
@usableFromInline
protocol TaskTransform: Transform
where Input == Result<Case.Success, any Error>, Output == Result<Case.NewSuccess, any Error> {
    associatedtype Case: ResultCase

    /// Runs the user's closure.
    func run(_ content: Case.Content) -> Outcome<Output>
}

extension TaskTransform {
    @inlinable
    static var isCancellable: Bool { true }

    @inlinable
    static func cancelled() -> Output { .failure(CancellationError()) }

    @inlinable
    static func isFailure(_ output: Output) -> Bool { output.isFailure }

    @inlinable
    static func isTrivial(_ output: Output) -> Bool { output.isTrivial }

    @inlinable
    static func ended(_ attached: AnyObject) { TaskNode.end(attached) }

    @inlinable
    static func lost(_ attached: AnyObject) { TaskNode.lost(attached) }

    @inlinable
    static func isObserved(_ attached: AnyObject) -> Bool { TaskNode.isObserved(attached) }

    @inlinable
    static func isCancelled(_ attached: AnyObject) -> Bool { TaskNode.isCancelled(attached) }

    @inlinable
    static func circular() -> Output? { .failure(CircularTask()) }

    @inlinable
    static func shortcut(_ input: Input) -> Output? {
        if case .bypass(let output) = Case.split(input) { output } else { nil }
    }

    @inlinable
    func apply(_ input: Input) -> Outcome<Output> {
        switch Case.split(input) {
        case .content(let content): run(content)
        case .bypass(let output): .value(output)
        }
    }
}

/// The content of a result that an operator's closure takes. Other results bypass the closure, and its executor.
@usableFromInline
protocol ResultCase: Sendable {
    associatedtype Success: Sendable
    associatedtype NewSuccess: Sendable
    associatedtype Content: Sendable

    static func split(_ input: Result<Success, any Error>) -> ResultSplit<Content, Result<NewSuccess, any Error>>
}

@usableFromInline
enum ResultSplit<Content, Output> {
    case content(Content)
    case bypass(Output)
}

/// The value.
@usableFromInline
enum SuccessCase<Success: Sendable, NewSuccess: Sendable>: ResultCase {
    @inlinable
    static func split(_ input: Result<Success, any Error>) -> ResultSplit<Success, Result<NewSuccess, any Error>> {
        switch input {
        case .success(let value): .content(value)
        case .failure(let error): .bypass(.failure(error))
        }
    }
}

/// The error.
@usableFromInline
enum FailureCase<Success: Sendable>: ResultCase {
    @inlinable
    static func split(_ input: Result<Success, any Error>) -> ResultSplit<any Error, Result<Success, any Error>> {
        if case .failure(let error) = input { .content(error) } else { .bypass(input) }
    }
}

/// The result as it is.
@usableFromInline
enum WholeResult<Success: Sendable>: ResultCase {
    @usableFromInline typealias Whole = Result<Success, any Error>

    @inlinable
    static func split(_ input: Whole) -> ResultSplit<Whole, Whole> { .content(input) }
}

extension Task {
    /// Creates the task that an operator without work of its own returns: a plain stage, unless this task has no
    /// control, or counts its consumers.
    @inlinable
    func derive<T: TaskTransform, E: Executor>(_ executor: E, _ transform: T) -> Task<T.Case.NewSuccess>
    where T.Input == Result {
        guard let control, !control.isShared else { return derive(executor, transform, .opaque) }
        let stage = storage.derive(executor, transform)
        return Task<T.Case.NewSuccess>(stage, control, plainCount: plainCount + 1)
    }

    /// Creates the task that an operator returns, with a control.
    @inlinable
    func derive<T: TaskTransform, E: Executor>(
        _ executor: E,
        _ transform: T,
        _ work: TaskWork
    ) -> Task<T.Case.NewSuccess> where T.Input == Result {
        let stage = Stage(executor, transform, upstream: storage)
        // Before the stage starts, since it may end immediately.
        let control = TaskControl(
            stage,
            work,
            upstream: control,
            plainCount: plainCount
        )
        let task = Task<T.Case.NewSuccess>(stage, control)
        storage.start(stage)
        return task
    }
}

/// The error of a task that would wait for itself: the closure of its `flatMap` or `fallback` returned the task itself, or
/// one that waits for it.
///
/// ```swift
/// var task: Task<Int>?
/// task = first.flatMap { _ in task! }  // fails with CircularTask
/// ```
///
/// A circle is detected when its last closure returns, if it leads only through tasks derived by operators, through those
/// that closures of `flatMap` and `fallback` have returned, and through their `future`. It is not detected
/// - if it leads through a combination such as `allSucceeded()`, since another child may end that: when one of the tasks is
///   cancelled, all of them end;
/// - if it leads through a closure or a handler that fills a future, through an operator of a plain `Future`, through code
///   that awaits a task, or if it has more than 64 tasks, not counting `map`, `mapError`, `recover` and `always`: then the
///   tasks never end, unless what is in the circle is ended from outside.
public struct CircularTask: Error, Hashable, CustomStringConvertible {
    /// Creates an error.
    public init() {}

    /// One line for a log.
    public var description: String {
        "the closure of flatMap or fallback returned the task that the operator itself created, or one derived "
            + "from it, which would wait for itself"
    }
}
