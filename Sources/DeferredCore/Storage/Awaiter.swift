/// A continuation that waits for a future: a handler without a closure, which can't be cancelled.
///
/// SAFETY: the property it adds to `Receiver` never changes.
@usableFromInline
final class Awaiter<Value: Sendable>: Receiver, @unchecked Sendable {
    @usableFromInline let continuation: UnsafeContinuation<Value, Never>

    @inlinable
    init(_ continuation: UnsafeContinuation<Value, Never>) {
        self.continuation = continuation
        super.init(.permanent()) { node, upstream, _ in
            let storage = unsafeDowncast(upstream, to: FutureStorage<Value>.self)
            unsafeDowncast(node, to: Awaiter.self).continuation.resume(returning: storage.value)
            return .done
        }
    }
}

extension FutureStorage {
    /// Resumes `continuation` with the value, as soon as the future is filled.
    @inlinable
    package final func resume(_ continuation: UnsafeContinuation<Value, Never>) {
        if word.isFilled || !give(.passRetained(Awaiter(continuation))) { continuation.resume(returning: value) }
    }
}
