/// A closure that waits for a future.
///
/// SAFETY: `body` belongs to the winner of `membership`.
@usableFromInline
final class Handler<Value: Sendable, E: Executor>: FutureNode, @unchecked Sendable {
    @usableFromInline let executor: E
    @exclusivity(unchecked)
    @usableFromInline var body: (@Sendable (Value) -> Void)?

    @inlinable
    init(_ membership: consuming Membership, _ executor: E, _ body: @escaping @Sendable (Value) -> Void) {
        self.executor = executor
        self.body = body
        super.init(membership)
    }

    @inlinable
    override func run(_ upstream: FutureNode, isSole: Bool, _ drain: inout Drain) -> Bool {
        let storage = unsafeDowncast(upstream, to: FutureStorage<Value>.self)
        if E.self == ImmediateExecutor.self {
            if membership.take() { call(with: storage.value) }
        } else if membership.submit() {
            submit(storage.value)
        }
        return false
    }

    /// Hands the closure to the executor. It can still be taken back until it starts.
    @inlinable
    func submit(_ value: Value) {
        executor.submit { [self] in
            if membership.take() { call(with: value) }
        }
    }

    /// Frees the closure before returning, since a registration may keep this object.
    @inlinable
    func call(with value: Value) {
        let body = body.unsafelyUnwrapped
        self.body = nil
        body(value)
    }

    @usableFromInline
    override func dismiss() {
        body = nil
    }
}

extension FutureStorage {
    /// Registers a closure, or hands it on if the future is filled.
    @inlinable
    @discardableResult
    package final func upon<E: Executor>(_ executor: E, _ body: @escaping @Sendable (Value) -> Void) -> Registration {
        if !word.isFilled {
            let handler = Handler(.waiting(for: self), executor, body)
            if add(handler) { return Registration(handler) }
        }
        if E.self == ImmediateExecutor.self {
            body(value)
            return Registration(nil)
        }
        let handler = Handler(.submitted(), executor, body)
        handler.submit(value)
        return Registration(handler)
    }
}
