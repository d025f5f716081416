extension FutureProtocol {
    // Operators take `any Executor`, not `some Executor`. With a generic parameter, the type checker would look up the
    // `.mainActor` of `on: .mainActor` in this overload only after the rest of the chain: exponential time. With this
    // one, it rules the overload out at once. Inlined always, so that the compiler sees the executor's type, and calls
    // the specialised function: without that, a `map` costs half as much again.
    /// Returns a future of the result of applying `transform` to the value.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `transform`; by default, it runs on the thread that fills this future.
    ///   - transform: A closure, retained until it has run or this future is dropped unfilled.
    /// - Complexity: O(1). A chain of any length is filled, and dropped, without recursion.
    @inlinable
    @inline(__always)
    public func map<NewValue: Sendable>(
        on executor: any Executor = .immediate,
        _ transform: @escaping @Sendable (Value) -> NewValue
    ) -> Future<NewValue> {
        mapOpened(executor, transform)
    }

    @inlinable
    func mapOpened<E: Executor, NewValue: Sendable>(
        _ executor: E,
        _ transform: @escaping @Sendable (Value) -> NewValue
    ) -> Future<NewValue> {
        let storage = future.storage
        if executor is ImmediateExecutor, let value = storage.peek() {
            return Future(value: transform(value))
        }
        return Future(storage.derive(executor, MapTransform(body: transform)))
    }
}

@frozen
@usableFromInline
struct MapTransform<Input: Sendable, Output: Sendable>: Transform {
    @usableFromInline let body: @Sendable (Input) -> Output

    @inlinable
    init(body: @escaping @Sendable (Input) -> Output) {
        self.body = body
    }

    @inlinable
    func apply(_ input: Input) -> Outcome<Output> { .value(body(input)) }
}

extension FutureProtocol {
    /// Returns a future that is filled when this one is, without the value.
    ///
    /// Use it to combine futures of different types: `[saved.ignored(), sent.ignored()].allFilled()`.
    ///
    /// - Returns: A future that is filled on the same thread as this one. It does not retain the value.
    /// - Complexity: O(1).
    @inlinable
    public func ignored() -> Future<Void> {
        map { _ in }
    }
}
