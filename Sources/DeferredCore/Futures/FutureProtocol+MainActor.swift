extension FutureProtocol {
    /// Calls `body` once with the value, on the main actor. See ``upon(_:execute:)-(Executor,_)``.
    @discardableResult
    public func upon(
        _ executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable (Value) -> Void
    ) -> Registration {
        upon(.main) { value in MainActor.assumeIsolated { body(value) } }
    }

    /// Returns a future of the result of `transform`, which runs on the main actor. See ``map(on:_:)-(Executor,_)``.
    public func map<NewValue: Sendable>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Value) -> NewValue
    ) -> Future<NewValue> {
        map(on: .main) { value in MainActor.assumeIsolated { transform(value) } }
    }

    /// Returns a future of the value of the future that `transform` returns. `transform` runs on the main actor. See
    /// ``flatMap(on:_:)-(Executor,_)``.
    @_disfavoredOverload
    public func flatMap<NewFuture: FutureProtocol>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Value) -> NewFuture
    ) -> Future<NewFuture.Value> {
        flatMap(on: .main) { value in MainActor.assumeIsolated { transform(value) } }
    }
}
