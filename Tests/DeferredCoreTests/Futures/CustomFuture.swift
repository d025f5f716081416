import DeferredCore

/// A future that implements only the requirements of the protocol.
struct CustomFuture<Value: Sendable>: FutureProtocol {
    let base: Deferred<Value>

    init(_ base: Deferred<Value> = Deferred()) { self.base = base }

    func upon(_ executor: some Executor, execute body: @escaping @Sendable (Value) -> Void) -> Registration {
        base.upon(executor, execute: body)
    }

    func peek() -> Value? { base.peek() }
}
