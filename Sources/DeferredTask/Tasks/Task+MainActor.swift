public import DeferredCore

extension Task {
    /// Calls `body` with the value, once, on the main actor, if the task succeeds.
    @discardableResult
    public func uponSuccess(
        on executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable (Success) -> Void
    ) -> Registration {
        uponSuccess(on: .main) { value in MainActor.assumeIsolated { body(value) } }
    }

    /// Calls `body` with the error, once, on the main actor, if the task fails.
    @discardableResult
    public func uponFailure(
        on executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> Registration {
        uponFailure(on: .main) { error in MainActor.assumeIsolated { body(error) } }
    }

    /// Returns a task of the value `transform` returns for this task's value, on the main actor. See
    /// ``map(on:_:)-(Executor,_)``.
    public func map<NewSuccess: Sendable>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Success) throws -> NewSuccess
    ) -> Task<NewSuccess> {
        map(on: .main) { value in try MainActor.assumeIsolated { try transform(value) } }
    }

    /// Returns a task that ends as the task that `transform` starts on the main actor. See ``flatMap(on:_:)-kb45``.
    public func flatMap<NewSuccess: Sendable>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Success) throws -> Task<NewSuccess>
    ) -> Task<NewSuccess> {
        flatMap(on: .main) { value in try MainActor.assumeIsolated { try transform(value) } }
    }

    /// Returns a task that succeeds with the value of the future that `transform` starts on the main actor. See
    /// ``flatMap(on:_:)-68ecd``.
    @_disfavoredOverload
    public func flatMap<NewFuture: FutureProtocol>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Success) throws -> NewFuture
    ) -> Task<NewFuture.Value> {
        flatMap(on: .main) { value in try MainActor.assumeIsolated { try transform(value) } }
    }

    /// Returns a task that replaces a failure with the value `substitute` returns on the main actor. See
    /// ``recover(on:_:)-(Executor,_)``.
    public func recover(
        on executor: MainActorExecutor,
        _ substitute: @escaping @MainActor @Sendable (any Error) throws -> Success
    ) -> Task {
        recover(on: .main) { error in try MainActor.assumeIsolated { try substitute(error) } }
    }

    /// Returns a task that replaces the error of a failure with the one `transform` returns on the main actor. See
    /// ``mapError(on:_:)-(Executor,_)``.
    public func mapError(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (any Error) throws -> any Error
    ) -> Task {
        mapError(on: .main) { error in try MainActor.assumeIsolated { try transform(error) } }
    }

    /// Returns a task that replaces a failure with the result of the task `substitute` starts on the main actor. See
    /// ``fallback(on:to:)-(Executor,_)``.
    public func fallback(
        on executor: MainActorExecutor,
        to substitute: @escaping @MainActor @Sendable (any Error) throws -> Task
    ) -> Task {
        fallback(on: .main) { error in try MainActor.assumeIsolated { try substitute(error) } }
    }

    /// Returns a task that ends as this one does, after `body` has seen the result on the main actor. See
    /// ``always(on:_:)-(Executor,_)``.
    public func always(
        on executor: MainActorExecutor,
        _ body: @escaping @MainActor @Sendable (Result) -> Void
    ) -> Task {
        always(on: .main) { result in MainActor.assumeIsolated { body(result) } }
    }

    /// Returns a task that starts work on the main actor, and again after each failure that the policy retries. See
    /// ``retry(_:on:_:)-(_,Executor,_)``.
    public static func retry(
        _ policy: RetryPolicy,
        on executor: MainActorExecutor,
        _ start: @escaping @MainActor @Sendable (_ attempt: Int) throws -> Task
    ) -> Task {
        retry(policy, on: .main) { attempt in try MainActor.assumeIsolated { try start(attempt) } }
    }

    /// Runs `work` on the main actor. See ``async(on:flags:onCancel:execute:)``.
    public static func async(
        on executor: MainActorExecutor,
        onCancel error: @autoclosure @escaping @Sendable () -> any Error = CancellationError(),
        execute work: @escaping @MainActor @Sendable () throws -> Success
    ) -> Task {
        async(on: .main, onCancel: error()) { try MainActor.assumeIsolated { try work() } }
    }
}
