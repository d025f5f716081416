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

    /// A task of what `transform`, on the main actor, makes of the value. See ``map(on:_:)``.
    public func map<NewSuccess: Sendable>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Success) throws -> NewSuccess
    ) -> Task<NewSuccess> {
        map(on: .main) { value in try MainActor.assumeIsolated { try transform(value) } }
    }

    /// A task that ends as the task that `transform` starts on the main actor. See ``flatMap(on:_:)``.
    public func flatMap<NewSuccess: Sendable>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Success) throws -> Task<NewSuccess>
    ) -> Task<NewSuccess> {
        flatMap(on: .main) { value in try MainActor.assumeIsolated { try transform(value) } }
    }
}
