public import DeferredCore

extension Task {
    /// Calls `body` with the value, once, if the task succeeds.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `body`. With `.immediate`, that is the thread that ends the task.
    ///   - body: Kept until the task ends, or until the handler is taken back.
    /// - Returns: A registration that takes the handler back.
    @inlinable
    @discardableResult
    public func uponSuccess(
        on executor: some Executor,
        execute body: @escaping @Sendable (Success) -> Void
    ) -> Registration {
        storage.upon(executor) { result in
            if case .success(let value) = result { body(value) }
        }
    }

    /// Calls `body` with the error, once, if the task fails.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `body`. With `.immediate`, that is the thread that ends the task.
    ///   - body: Kept until the task ends, or until the handler is taken back.
    /// - Returns: A registration that takes the handler back.
    @inlinable
    @discardableResult
    public func uponFailure(
        on executor: some Executor,
        execute body: @escaping @Sendable (any Error) -> Void
    ) -> Registration {
        storage.upon(executor) { result in
            if case .failure(let error) = result { body(error) }
        }
    }
}
