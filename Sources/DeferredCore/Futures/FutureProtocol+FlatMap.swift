extension FutureProtocol {
    // Disfavoured, so that on a `Task`, a closure that returns a future selects the overload of `Task`.
    /// Returns a future of the value of the future that `transform` returns.
    ///
    /// A function may call itself through `flatMap` any number of times: the recursion takes constant memory and stack.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `transform`; by default, it runs on the thread that fills this future.
    ///   - transform: A closure, retained until it has run or this future is dropped unfilled.
    /// - Precondition: `transform` doesn't return the new future itself, which would never be filled; debug builds stop.
    /// - Complexity: O(1).
    @inlinable
    @inline(__always)
    @_disfavoredOverload
    public func flatMap<NewFuture: FutureProtocol>(
        on executor: any Executor = .immediate,
        _ transform: @escaping @Sendable (Value) -> NewFuture
    ) -> Future<NewFuture.Value> {
        flatMapOpened(executor, transform)
    }

    @inlinable
    func flatMapOpened<E: Executor, NewFuture: FutureProtocol>(
        _ executor: E,
        _ transform: @escaping @Sendable (Value) -> NewFuture
    ) -> Future<NewFuture.Value> {
        let storage = future.storage
        if executor is ImmediateExecutor, let value = storage.peek(),
            let inner = Trampoline.nest({ transform(value).future })
        {
            return inner
        }
        return Future(storage.derive(executor, FlatMapTransform(body: transform)))
    }
}

@frozen
@usableFromInline
struct FlatMapTransform<Input: Sendable, NewFuture: FutureProtocol>: Transform {
    @usableFromInline let body: @Sendable (Input) -> NewFuture

    @inlinable
    init(body: @escaping @Sendable (Input) -> NewFuture) {
        self.body = body
    }

    @inlinable
    func apply(_ input: Input) -> Outcome<NewFuture.Value> { .future(body(input).future) }
}
