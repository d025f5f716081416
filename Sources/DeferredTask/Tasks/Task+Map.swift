public import DeferredCore

extension Task {
    // The comment on `map` of a future says why operators take `any Executor`, and are inlined always.
    /// Returns a task of the value `transform` returns for this task's value.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `transform`; by default, it runs on the thread that ends this task.
    ///     Failures bypass it.
    ///   - transform: Fails the new task if it throws. Kept until it has run, or the new task is cancelled.
    /// - Returns: A task whose cancellation cancels this one too. `transform` does not run if that comes first.
    @inlinable
    @inline(__always)
    public func map<NewSuccess: Sendable>(
        on executor: any Executor = .immediate,
        _ transform: @escaping @Sendable (Success) throws -> NewSuccess
    ) -> Task<NewSuccess> {
        mapOpened(executor, transform)
    }

    @inlinable
    func mapOpened<E: Executor, NewSuccess: Sendable>(
        _ executor: E,
        _ transform: @escaping @Sendable (Success) throws -> NewSuccess
    ) -> Task<NewSuccess> {
        if let result = peek(on: executor) { return .catching { try transform(result.get()) } }
        return derive(executor, TaskMap(SuccessCase.self, transform))
    }

    /// Returns a task that succeeds without a value when this one succeeds.
    ///
    /// - Returns: A task whose cancellation cancels this one too.
    public func ignored() -> Task<Void> {
        map { _ in }
    }
}

/// Replaces the content of a result with what a closure returns.
@frozen
@usableFromInline
struct TaskMap<Case: ResultCase>: TaskTransform {
    @usableFromInline let body: @Sendable (Case.Content) throws -> Case.NewSuccess

    @inlinable
    init(_: Case.Type, _ body: @escaping @Sendable (Case.Content) throws -> Case.NewSuccess) {
        self.body = body
    }

    @inlinable
    func run(_ content: Case.Content) -> Outcome<Result<Case.NewSuccess, any Error>> {
        .value(Result { try body(content) })
    }
}
