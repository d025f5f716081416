internal import DeferredCore
public import Dispatch

extension Task {
    /// Creates a task that runs `operation` in Swift's concurrency, as Swift's own `Task { }` does, and ends as it
    /// does.
    ///
    /// `operation` inherits the actor, the priority and the task-local values of the caller. Cancelling this task
    /// cancels the Swift task that runs it, so that `Task.isCancelled` and `Task.checkCancellation()` report it. If the
    /// task is cancelled before its operation begins, the operation still runs, as in Swift.
    ///
    /// - Parameters:
    ///   - name: The name that debuggers show, as in Swift.
    ///   - priority: As in Swift; by default that of the caller. Awaiting this task raises it.
    ///   - operation: Kept until it returns.
    @inlinable
    @discardableResult
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) {
        self = IsolatedOperation(operation).start(name: name, priority: priority)
    }

    /// Runs `operation` in Swift's concurrency, without the caller's actor, priority and task-local values.
    ///
    /// Like Swift's own `Task.detached`, with a preferred executor or without; the parameters and cancelling are as for
    /// ``init(name:executorPreference:priority:operation:)``.
    @inlinable
    @discardableResult
    public static func detached(
        name: String? = nil,
        executorPreference taskExecutor: (any TaskExecutor)? = nil,
        priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) -> Task {
        let operation = IsolatedOperation(operation)
        return operation.task(
            .detached(name: name, executorPreference: taskExecutor, priority: priority) { await operation.run() }
        )
    }

    /// Creates a task that runs `operation` in Swift's concurrency with a preferred executor, as Swift's own
    /// `Task(executorPreference:)` does.
    ///
    /// The operation does not inherit the caller's actor: if it is isolated to no actor, it runs on the executor.
    /// Otherwise like ``init(name:priority:operation:)``.
    ///
    /// - Parameters:
    ///   - name: The name that debuggers show, as in Swift.
    ///   - taskExecutor: As in Swift; `nil` for none.
    ///   - priority: As in Swift; by default that of the caller.
    ///   - operation: Kept until it returns.
    @inlinable
    @discardableResult
    public init(
        name: String? = nil,
        executorPreference taskExecutor: (any TaskExecutor)?,
        priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) {
        let operation = IsolatedOperation(operation)
        self = operation.task(
            .init(name: name, executorPreference: taskExecutor, priority: priority) { await operation.run() }
        )
    }

    /// Runs `operation` now, on the calling thread, up to its first suspension, as Swift's own `Task.immediate` does.
    ///
    /// An operation isolated to a different actor than the caller's begins on that actor, later. The rest is as for
    /// ``init(name:priority:operation:)``.
    ///
    /// - Parameters:
    ///   - name: The name that debuggers show, as in Swift.
    ///   - priority: As in Swift; by default that of the caller.
    ///   - taskExecutor: As in Swift: the executor on which it continues after a suspension.
    ///   - operation: Kept until it returns.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @inlinable
    @discardableResult
    public static func immediate(
        name: String? = nil,
        priority: TaskPriority? = nil,
        executorPreference taskExecutor: (any TaskExecutor)? = nil,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) -> Task {
        IsolatedOperation(operation)
            .start(.immediate, name: name, priority: priority, executorPreference: taskExecutor)
    }

    /// Runs `operation` now, on the calling thread, up to its first suspension, without the caller's priority and
    /// task-local values, as Swift's own `Task.immediateDetached` does.
    ///
    /// The parameters and cancelling are as for ``immediate(name:priority:executorPreference:operation:)``.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @inlinable
    @discardableResult
    public static func immediateDetached(
        name: String? = nil,
        priority: TaskPriority? = nil,
        executorPreference taskExecutor: (any TaskExecutor)? = nil,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) -> Task {
        IsolatedOperation(operation)
            .start(.immediateDetached, name: name, priority: priority, executorPreference: taskExecutor)
    }

    /// Runs `work` on a queue.
    ///
    /// - Parameters:
    ///   - queue: The queue on which `work` runs.
    ///   - flags: As for `DispatchQueue.async(flags:)`.
    ///   - error: The error of a task that is cancelled before `work` starts; `work` is not called then. Later
    ///     cancellations are for `work` itself to notice.
    ///   - work: Fails the task if it throws. Kept until it has run.
    public static func async(
        on queue: DispatchQueue,
        flags: DispatchWorkItemFlags = [],
        onCancel error: @autoclosure @escaping @Sendable () -> any Error = CancellationError(),
        execute work: @escaping @Sendable () throws -> Success
    ) -> Task {
        let storage = FutureStorage<Result>()
        // Claiming the storage decides: either the queue does so by starting, or a cancellation.
        queue.async(flags: flags) {
            guard storage.claim() else { return }
            storage.fulfil(with: Result(catching: work))
        }
        return Task(storage, .opaque) {
            guard storage.claim() else { return }
            storage.fulfil(with: .failure(error()))
        }
    }
}
