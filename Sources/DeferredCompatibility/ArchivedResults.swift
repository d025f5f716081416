public import DeferredCore
public import DeferredTask
public import Foundation

// In the archived library every future of a result had the operators of a task. Here it has to be turned into a task
// first: these spellings do that, and say so. All are disfavoured, so that a task finds its own operators.

extension FutureProtocol {
    /// This task; of any other future, a task.
    private func task<Success>() -> Task<Success> where Value == Result<Success, any Error> {
        self as? Task<Success> ?? Task(future)
    }

    /// See ``DeferredTask/Task/init(_:reporter:uponCancel:)-98y7s``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:uponCancel:)'")
    public func eraseToTask<Success: Sendable>(
        uponCancel onCancel: (@Sendable () -> Void)? = nil
    ) -> Task<Success> where Value == Result<Success, any Error> {
        Task(future, uponCancel: onCancel)
    }

    /// See ``DeferredTask/Task/init(_:progress:)``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:progress:)'")
    public func eraseToTask<Success: Sendable>(
        progress: Progress
    ) -> Task<Success> where Value == Result<Success, any Error> {
        Task(future, progress: progress)
    }

    /// See ``DeferredTask/Task/uponSuccess(on:execute:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:)', and its 'uponSuccess(on:execute:)'")
    @discardableResult
    public func uponSuccess<Success: Sendable>(
        on executor: some Executor = .any(),
        execute body: @escaping @Sendable (Success) -> Void
    ) -> Registration where Value == Result<Success, any Error> {
        task().uponSuccess(on: executor, execute: body)
    }

    /// See ``DeferredTask/Task/uponFailure(on:execute:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:)', and its 'uponFailure(on:execute:)'")
    @discardableResult
    public func uponFailure<Success: Sendable>(
        on executor: some Executor = .any(),
        execute body: @escaping @Sendable (any Error) -> Void
    ) -> Registration where Value == Result<Success, any Error> {
        task().uponFailure(on: executor, execute: body)
    }

    /// See ``DeferredTask/Task/map(on:_:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:)', and its 'map(on:_:)'")
    public func map<Success: Sendable, NewSuccess: Sendable>(
        upon executor: some Executor,
        transform: @escaping @Sendable (Success) throws -> NewSuccess
    ) -> Task<NewSuccess> where Value == Result<Success, any Error> {
        task().map(on: executor, transform)
    }

    /// See ``DeferredTask/Task/flatMap(on:_:)-kb45``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:)', and its 'flatMap(on:_:)'")
    public func andThen<Success: Sendable, NewSuccess: Sendable>(
        upon executor: some Executor,
        start startNextTask: @escaping @Sendable (Success) throws -> Task<NewSuccess>
    ) -> Task<NewSuccess> where Value == Result<Success, any Error> {
        task().flatMap(on: executor, startNextTask)
    }

    /// See ``DeferredTask/Task/map(on:_:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:)', and its 'map(_:)'")
    public func everySuccess<Success: Sendable, NewSuccess: Sendable>(
        per eachSuccessTransform: @escaping @Sendable (Success) -> NewSuccess
    ) -> Task<NewSuccess> where Value == Result<Success, any Error> {
        task().map(eachSuccessTransform)
    }

    /// See ``DeferredTask/Task/recover(on:_:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:)', and its 'recover(on:_:)'")
    public func recover<Success: Sendable>(
        upon executor: some Executor,
        substituting substitution: @escaping @Sendable (any Error) throws -> Success
    ) -> Task<Success> where Value == Result<Success, any Error> {
        task().recover(on: executor, substitution)
    }

    /// See ``DeferredTask/Task/fallback(on:to:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'Task(_:)', and its 'fallback(on:to:)'")
    public func fallback<Success: Sendable>(
        upon executor: some Executor,
        to restartTask: @escaping @Sendable (any Error) throws -> Task<Success>
    ) -> Task<Success> where Value == Result<Success, any Error> {
        task().fallback(on: executor, to: restartTask)
    }

    /// Returns a task of the successes of this and others, which may be tasks, promises, or futures of results.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'zip(_:)', with 'Task(_:)' of each that is no task")
    public func andSuccess<Success: Sendable, each Other: Sendable>(
        of others: repeat any FutureProtocol<Result<each Other, any Error>>
    ) -> Task<(Success, repeat each Other)> where Value == Result<Success, any Error> {
        zip(task(), repeat (each others).task())
    }
}

extension Sequence where Element: FutureProtocol {
    /// See ``DeferredTask/Swift/Collection/allSucceeded()``. Cancels nothing, as promises and futures of results can't be cancelled.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'map { Task($0) }.allSucceeded()'")
    public func allSucceeded<Success: Sendable>() -> Task<[Success]>
    where Element.Value == Result<Success, any Error> {
        map { Task($0.future) }.allSucceeded()
    }
}

extension Future {
    /// Creates a future of a success.
    @available(*, deprecated, message: "use 'Future(value: .success(…))', or 'Task.success(_:)'")
    public init<Success>(success value: Success) where Value == Result<Success, any Error> {
        self.init(value: .success(value))
    }

    /// Creates a future of a failure.
    @available(*, deprecated, message: "use 'Future(value: .failure(…))', or 'Task.failure(_:)'")
    public init<Success>(failure error: any Error) where Value == Result<Success, any Error> {
        self.init(value: .failure(error))
    }

    /// Creates a future of the outcome of `body`, which is called now.
    @available(*, deprecated, message: "use 'Future(value: Result { … })', or 'Task.catching(_:)'")
    public init<Success>(catching body: () throws -> Success) where Value == Result<Success, any Error> {
        self.init(value: Result(catching: body))
    }

    /// Creates a future of a success from a future of its value.
    @available(*, deprecated, message: "use 'Task(succeedsFrom:)', or 'map { .success($0) }'")
    public init<Success>(
        succeedsFrom future: some FutureProtocol<Success>
    ) where Value == Result<Success, any Error> {
        self = future.map { .success($0) }
    }

    /// Creates a future of the result of a task.
    @available(*, deprecated, message: "use 'Future(_:)', or the property 'future'")
    public init<Success>(
        resultFrom task: some FutureProtocol<Result<Success, any Error>>
    ) where Value == Result<Success, any Error> {
        self = task.future
    }
}

extension Result where Failure == any Error {
    /// Creates the result of a completion handler: a success if there is a value, and otherwise a failure.
    @available(*, deprecated, message: "unwrap the value or the error, and choose an error for when both are nil")
    public init(value: Success?, error: (any Error)?) {
        self = value.map(Self.success) ?? .failure(error ?? MissingResult())
    }
}

/// The error of a completion handler that was called with neither a value nor an error.
private struct MissingResult: Error {}
