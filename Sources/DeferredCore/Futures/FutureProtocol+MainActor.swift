extension FutureProtocol {
    /// Calls `body` with the value, once, on the main actor. See ``upon(_:execute:)-(Executor,_)``.
    @discardableResult
    public func upon(
        _ executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable (Value) -> Void
    ) -> Registration {
        upon(.main) { value in MainActor.assumeIsolated { body(value) } }
    }

    /// A future of what `transform`, on the main actor, makes of the value. See ``map(on:_:)-(Executor,_)``.
    public func map<NewValue: Sendable>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Value) -> NewValue
    ) -> Future<NewValue> {
        map(on: .main) { value in MainActor.assumeIsolated { transform(value) } }
    }

    /// A future of the value of the future that `transform` starts on the main actor. See
    /// ``flatMap(on:_:)-(Executor,_)``.
    @_disfavoredOverload
    public func flatMap<NewFuture: FutureProtocol>(
        on executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Value) -> NewFuture
    ) -> Future<NewFuture.Value> {
        flatMap(on: .main) { value in MainActor.assumeIsolated { transform(value) } }
    }
}
