extension FutureProtocol {
    // Disfavoured, so that the closure of a task's `flatMap` that returns a future finds that of `Task`.
    /// A future of the value of the future that `transform` starts.
    ///
    /// A function that calls itself through `flatMap` may do so for ever: it runs in constant memory and stack.
    ///
    /// - Parameters:
    ///   - executor: Where `transform` runs; by default on the thread that fills this future.
    ///   - transform: Kept until it has run or this future goes unfilled.
    /// - Complexity: O(1).
    @inlinable
    @_disfavoredOverload
    public func flatMap<NewFuture: FutureProtocol>(
        on executor: some Executor = .immediate,
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

@usableFromInline
struct FlatMapTransform<Input: Sendable, NewFuture: FutureProtocol>: Transform {
    @usableFromInline let body: @Sendable (Input) -> NewFuture

    @inlinable
    init(body: @escaping @Sendable (Input) -> NewFuture) {
        self.body = body
    }

    @inlinable
    static var isCancellable: Bool { false }

    @inlinable
    static func shortcut(_ input: Input) -> NewFuture.Value? { nil }

    @inlinable
    func apply(_ input: Input) -> Outcome<NewFuture.Value> { .future(body(input).future) }
}
