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
        if executor is ImmediateExecutor, let result = storage.peek() {
            return .catching { try transform(result.get()) }
        }
        return derive(executor, TaskMap(body: transform))
    }
}

@usableFromInline
struct TaskMap<Success: Sendable, NewSuccess: Sendable>: TaskTransform {
    @usableFromInline let body: @Sendable (Success) throws -> NewSuccess

    @inlinable
    init(body: @escaping @Sendable (Success) throws -> NewSuccess) {
        self.body = body
    }

    @inlinable
    static func shortcut(_ input: Result<Success, any Error>) -> Result<NewSuccess, any Error>? {
        if case .failure(let error) = input { .failure(error) } else { nil }
    }

    @inlinable
    func apply(_ input: Result<Success, any Error>) -> Outcome<Result<NewSuccess, any Error>> {
        .value(Result { try body(input.get()) })
    }
}

extension Task {
    /// Returns a task that succeeds without a value when this one succeeds.
    ///
    /// - Returns: A task whose cancellation cancels this one too.
    public func ignored() -> Task<Void> {
        map { _ in }
    }
}
