extension FutureProtocol {
    /// The value, awaited if the future is not filled yet.
    ///
    /// The wait continues even if the awaiting task is cancelled; use ``get()`` to stop waiting then. The future is
    /// kept alive during the wait. If it is the result of a task, a `Task { }` that this was derived from has at least the
    /// priority of the awaiting task meanwhile.
    @inlinable
    public var value: Value {
        get async {
            if let value = peek() { return value }
            let storage = future.storage
            if storage.mayRunInSwift {
                await storage.waitRaisingPriority { storage.resume($0) }
            } else {
                await withUnsafeContinuation { storage.resume($0) }
            }
            // Keeps the future during the wait: if it were freed, the handler that ends the wait would never run.
            return withExtendedLifetime((self, storage)) { storage.value }
        }
    }

    /// Waits for the value, until the awaiting task is cancelled.
    ///
    /// - Throws: `CancellationError` if the awaiting task is cancelled before the future is filled. The future is not
    ///   affected, and no handler stays registered with it.
    @inlinable
    public func get() async throws(CancellationError) -> Value {
        if let value = peek() { return value }
        let (storage, registration) = observed
        await storage.waitUnlessCancelled()
        // Keeps the future during the wait, as `value` does.
        if let value = withExtendedLifetime(self, { storage.peek() }) { return value }
        registration?.cancel()
        throw CancellationError()
    }

    /// The storage of the library's own futures; for another type, a new one, with the registration of the handler that
    /// fills it.
    @inlinable
    var observed: (storage: FutureStorage<Value>, registration: Registration?) {
        if Self.self == Future<Value>.self || Self.self == Deferred<Value>.self { return (future.storage, nil) }
        let storage = FutureStorage<Value>()
        return (storage, upon(.immediate) { _ = storage.fill(with: $0) })
    }
}
