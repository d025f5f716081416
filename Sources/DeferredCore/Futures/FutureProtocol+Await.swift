extension FutureProtocol {
    /// The value, awaited if the future is not filled yet.
    ///
    /// The wait continues even if the awaiting task is cancelled; use ``get()`` to stop waiting then. The future is
    /// kept alive during the wait.
    @inlinable
    public var value: Value {
        get async {
            if let value = peek() { return value }
            let storage = future.storage
            let value = await withUnsafeContinuation { storage.resume($0) }
            // Keeps the future during the wait: if it were freed, the handler that ends the wait would never run.
            withExtendedLifetime((self, storage)) {}
            return value
        }
    }

    /// Waits for the value, until the awaiting task is cancelled.
    ///
    /// - Throws: `CancellationError` if the awaiting task is cancelled before the future is filled. The future is not
    ///   affected, and no handler stays registered with it.
    public func get() async throws(CancellationError) -> Value {
        if let value = peek() { return value }
        guard let value = await valueUnlessCancelled(on: #isolation) else { throw CancellationError() }
        return value
    }

    private func valueUnlessCancelled(on actor: isolated (any Actor)?) async -> Value? {
        let waiter = Waiter<Value>()
        let value = await withTaskCancellationHandler {
            // Capturing `actor` keeps the closure on the caller's actor, which saves two hops.
            _ = actor
            return await withUnsafeContinuation { continuation in
                waiter.suspend(continuation)
                waiter.register(upon(.immediate) { waiter.resume(with: $0) })
            }
        } onCancel: {
            waiter.resume(with: nil)
        }
        withExtendedLifetime(self) {}
        return value
    }
}
