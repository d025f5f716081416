public import DeferredCore

// The names of the archived Deferred library, where they differ from ours, so that its users' code compiles, and says what
// to write instead. Not here: `Task.init(success:)`, since the trailing closure of `Task { }` would match it.

extension Task {
    /// See ``flatMap(upon:_:)-(Executor,_)``, which this is.
    @available(*, deprecated, renamed: "flatMap(upon:_:)")
    public func andThen<NewSuccess: Sendable>(
        upon executor: some Executor,
        start startNextTask: @escaping @Sendable (Success) throws -> Task<NewSuccess>
    ) -> Task<NewSuccess> {
        flatMap(upon: executor, startNextTask)
    }

    /// See ``map(upon:_:)-(Executor,_)``, which this is: the closure runs once, and not at each use.
    @available(*, deprecated, renamed: "map(_:)")
    public func everySuccess<NewSuccess: Sendable>(
        per eachSuccessTransform: @escaping @Sendable (Success) -> NewSuccess
    ) -> Task<NewSuccess> {
        map(eachSuccessTransform)
    }

    // Disfavoured, or a trailing closure would do for both.
    /// See ``recover(upon:_:)``, which this is.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "recover(upon:_:)")
    public func recover(
        upon executor: some Executor,
        substituting substitution: @escaping @Sendable (any Error) throws -> Success
    ) -> Task {
        recover(upon: executor, substitution)
    }

    /// See ``retry(_:upon:_:)``. Retries at once; a ``RetryPolicy`` has pauses.
    ///
    /// - Parameters:
    ///   - executor: Where attempts begin.
    ///   - numberOfAttempts: How many there are after the first.
    ///   - shouldRetry: Which errors are worth another attempt.
    ///   - startTask: Makes each attempt.
    @available(*, deprecated, message: "use 'Task.retry(_:upon:_:)', whose policy counts the first attempt as well")
    public static func `repeat`(
        upon executor: some Executor,
        count numberOfAttempts: Int = 3,
        continuingIf shouldRetry: @escaping @Sendable (any Error) -> Bool = { _ in true },
        to startTask: @escaping @Sendable () throws -> Task
    ) -> Task {
        let attempts = max(numberOfAttempts, 0) + 1
        let policy = RetryPolicy(attempts: attempts, base: .zero, isRetryable: shouldRetry)
        return retry(policy, upon: executor) { _ in try startTask() }
    }

    /// See ``uponSuccess(on:execute:)-(Executor,_)``. Runs on a background queue.
    @available(*, deprecated, message: "use 'uponSuccess(on:execute:)', and name the executor; it was '.any()'")
    @discardableResult
    public func uponSuccess(execute body: @escaping @Sendable (Success) -> Void) -> Registration {
        uponSuccess(on: .any(), execute: body)
    }

    /// See ``uponFailure(on:execute:)-(Executor,_)``. Runs on a background queue.
    @available(*, deprecated, message: "use 'uponFailure(on:execute:)', and name the executor; it was '.any()'")
    @discardableResult
    public func uponFailure(execute body: @escaping @Sendable (any Error) -> Void) -> Registration {
        uponFailure(on: .any(), execute: body)
    }

    /// See ``failure(_:)``.
    @available(*, deprecated, renamed: "failure(_:)")
    public init(failure error: any Error) {
        self = .failure(error)
    }
}

/// See ``Task/Result-swift.typealias``.
@available(*, deprecated, message: "use 'Task<Success>.Result', or 'Result<Success, any Error>'")
public typealias TaskResult<Success> = Result<Success, any Error>
