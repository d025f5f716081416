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
        recoverOpened(executor, substitute)
    }

    @inlinable
    func recoverOpened<E: Executor>(
        _ executor: E,
        _ substitute: @escaping @Sendable (any Error) throws -> Success
    ) -> Task {
        derive(executor, TaskRecover(body: substitute))
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
        fallbackOpened(executor, substitute)
    }

    @inlinable
    func fallbackOpened<E: Executor>(
        _ executor: E,
        _ substitute: @escaping @Sendable (any Error) throws -> Task
    ) -> Task {
        if executor is ImmediateExecutor, let result = storage.peek() {
            switch result {
            case .success: return self
            case .failure(let error): if let task = Task.starting({ try substitute(error) }) { return task }
            }
        }
        let children = TaskNode(expected: 1, isCollapsible: true)
        return derive(executor, TaskFallback(body: substitute, children: children), .children(children))
    }
}

@usableFromInline
struct TaskRecover<Success: Sendable>: TaskTransform {
    @usableFromInline typealias NewSuccess = Success

    @usableFromInline let body: @Sendable (any Error) throws -> Success

    @inlinable
    init(body: @escaping @Sendable (any Error) throws -> Success) {
        self.body = body
    }

    @inlinable
    static func shortcut(_ input: Result<Success, any Error>) -> Result<Success, any Error>? {
        if case .success = input { input } else { nil }
    }

    @inlinable
    func apply(_ input: Result<Success, any Error>) -> Outcome<Result<Success, any Error>> {
        guard case .failure(let error) = input else { return .value(input) }
        return .value(Result { try body(error) })
    }
}

@usableFromInline
struct TaskFallback<Success: Sendable>: TaskTransform {
    @usableFromInline typealias NewSuccess = Success

    @usableFromInline let body: @Sendable (any Error) throws -> Task<Success>
    @usableFromInline let children: TaskNode

    @inlinable
    init(body: @escaping @Sendable (any Error) throws -> Task<Success>, children: TaskNode) {
        self.body = body
        self.children = children
    }

    @inlinable
    static func shortcut(_ input: Result<Success, any Error>) -> Result<Success, any Error>? {
        if case .success = input { input } else { nil }
    }

    @inlinable
    func apply(_ input: Result<Success, any Error>) -> Outcome<Result<Success, any Error>> {
        guard case .failure(let error) = input else { return .value(input) }
        switch Result(catching: { try body(error) }) {
        case .success(let task): return children.start(task)
        case .failure(let error): return .value(.failure(error))
        }
    }
}
