public import DeferredCore

extension Task {
    /// Returns a task that replaces a failure with the value `substitute` returns.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `substitute`; by default, it runs on the thread that ends this task. Values
    ///     bypass it.
    ///   - substitute: May throw the same or another error. Kept until it has run, or the new task is cancelled.
    /// - Returns: A task whose cancellation cancels this one too. `substitute` does not run if that comes first.
    @inlinable
    @inline(__always)
    public func recover(
        on executor: any Executor = .immediate,
        _ substitute: @escaping @Sendable (any Error) throws -> Success
    ) -> Task {
        derive(executor, TaskMap(FailureCase.self, substitute))
    }

    /// Returns a task that replaces a failure with the value that an asynchronous closure returns.
    ///
    /// The same as ``fallback(on:to:)-(Executor,_)`` to a `Task { … }` of the closure.
    ///
    /// ```swift
    /// let user = client.decode(User.self, from: request).recover { error in try await database.user(after: error) }
    /// ```
    ///
    /// - Parameter substitute: May throw the same or another error. Kept until it has run, or the new task is cancelled.
    /// - Returns: A task whose cancellation cancels this one and, once it runs, the Swift task of `substitute`, which
    ///   does not run if that comes first.
    @_disfavoredOverload
    public func recover(_ substitute: @escaping @Sendable (any Error) async throws -> Success) -> Task {
        fallback { error in Task { try await substitute(error) } }
    }

    /// Returns a task that replaces the error of a failure with the one `transform` returns.
    ///
    /// For errors of a lower layer that callers should see as errors of this one. A cancelled request fails with a
    /// cancellation, too: pass on errors for which `isCancellation` is true, so that callers still recognise them.
    ///
    /// ```swift
    /// let user = client.begin(request).mapError { $0.isCancellation ? $0 : AccountError.unavailable($0) }
    /// ```
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `transform`; by default, it runs on the thread that ends this task. Values
    ///     bypass it.
    ///   - transform: An error that it throws replaces the one it would return. Kept until it has run, or the new task
    ///     is cancelled.
    /// - Returns: A task whose cancellation cancels this one too. `transform` does not run if that comes first, and the
    ///   task fails with `CancellationError`.
    @inlinable
    @inline(__always)
    public func mapError(
        on executor: any Executor = .immediate,
        _ transform: @escaping @Sendable (any Error) throws -> any Error
    ) -> Task {
        recover(on: executor) { error in throw try transform(error) }
    }

    /// Returns a task that replaces a failure with the result of the task `substitute` starts.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `substitute`; by default, it runs on the thread that ends this task. Values
    ///     bypass it.
    ///   - substitute: May throw the same or another error. Kept until it has run, or the new task is cancelled.
    /// - Returns: A task whose cancellation cancels this one and, once it runs, the substitute. `substitute` does not
    ///   run if that comes first.
    @inlinable
    @inline(__always)
    public func fallback(
        on executor: any Executor = .immediate,
        to substitute: @escaping @Sendable (any Error) throws -> Task
    ) -> Task {
        if case .success? = peek(on: executor) { return self }
        return adopt(executor, FailureCase.self, substitute)
    }
}
