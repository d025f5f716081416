/// A function that delivers the value of a future to a node that waited for it; see `HandlerNode.run`.
///
/// Methods of a generic class that are dispatched dynamically are never specialised: they look up metadata and copy
/// values through witnesses. A closure without captures, created where the type parameters are known, is specialised, and
/// costs no allocation.
@usableFromInline
typealias Delivery =
    @Sendable (
        _ node: HandlerNode, _ upstream: FutureNode, _ drain: inout Drain
    ) -> HandlerNode.Delivered

/// A closure that waits for a future.
///
/// SAFETY: `body` belongs to the winner of `membership`.
@_fixed_layout
@usableFromInline
final class Handler<Value: Sendable, E: Executor>: HandlerNode, @unchecked Sendable {
    @usableFromInline let deliver: Delivery
    @exclusivity(unchecked)
    @usableFromInline var body: Body?
    @usableFromInline let executor: E

    @inlinable
    init(_ membership: consuming Membership, _ executor: E, _ body: @escaping @Sendable (Value) -> Void) {
        self.executor = executor
        self.body = Body(call: body)
        deliver = { node, upstream, _ in
            let storage = unsafeDowncast(upstream, to: FutureStorage<Value>.self)
            unsafeDowncast(node, to: Handler.self).receive(storage.value)
            return .done
        }
        super.init(membership)
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        deliver(self, upstream, &drain)
    }

    @inlinable
    func receive(_ value: Value) {
        if E.self == ImmediateExecutor.self {
            if membership.take() { call(with: value) }
        } else if membership.submit() {
            submit(value)
        }
    }

    /// Submits the closure to the executor. It can be cancelled until it starts.
    @inlinable
    func submit(_ value: Value) {
        executor.submit { [self] in
            if membership.take() { call(with: value) }
        }
    }

    /// Calls the closure, and frees it before returning, since a registration may retain this object.
    @inlinable
    func call(with value: Value) {
        body.take()!.call(value)
    }

    @usableFromInline
    override func dismiss() {
        body = nil
    }

    /// A box for the closure, since a bare one is wrapped in another one, with an allocation, each time it passes
    /// through a generic function.
    @frozen
    @usableFromInline
    struct Body: Sendable {
        @usableFromInline let call: @Sendable (Value) -> Void

        @inlinable
        init(call: @escaping @Sendable (Value) -> Void) {
            self.call = call
        }
    }
}

extension FutureStorage {
    /// Registers a closure, or submits it to its executor if the future is filled.
    @inlinable
    @discardableResult
    package final func upon<E: Executor>(
        _ executor: E,
        _ body: consuming @escaping @Sendable (Value) -> Void
    ) -> Registration {
        // Not with `add`, which would release the handler's first reference after the push.
        let handler = Unmanaged.passRetained(Handler(.waiting(for: self), executor, body))
        let registration = Registration(handler.takeUnretainedValue())
        if !word.push(Unmanaged.fromOpaque(handler.toOpaque())) { handOn(handler.takeRetainedValue()) }
        return registration
    }

    /// Submits a handler that came too late for the list to its executor.
    @inlinable
    @inline(never)
    final func handOn<E: Executor>(_ handler: Handler<Value, E>) {
        // From here on, the handler no longer refers to this future.
        guard handler.membership.submit() else { return }
        let value = value
        // Older handlers of this future may be among the work that this thread has put off; they have to run first.
        if Trampoline.hasPutOff {
            Trampoline.putOff { handler.submit(value) }
        } else {
            handler.submit(value)
        }
    }
}
