internal import DeferredCore
public import Dispatch

extension Task {
    /// Runs `operation` in Swift's concurrency, as Swift's own `Task { }` does, and ends as it does.
    ///
    /// `operation` inherits the actor, the priority and the task-local values of the caller. Cancelling this task cancels
    /// the Swift task that runs it, so that `Task.isCancelled` and `Task.checkCancellation()` tell. A task cancelled
    /// before its operation began runs it all the same, as in Swift.
    ///
    /// - Parameters:
    ///   - priority: As in Swift; by default that of the caller.
    ///   - operation: Kept until it returns.
    @discardableResult
    public init(
        priority: TaskPriority? = nil,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) {
        let storage = FutureStorage<Result>()
        let running = _Concurrency.Task(priority: priority) {
            do {
                let value = try await operation()
                _ = storage.fill(with: .success(value))
            } catch {
                _ = storage.fill(with: .failure(error))
            }
        }
        self.init(storage, .opaque) { running.cancel() }
    }

    /// Runs `work` on a queue.
    ///
    /// - Parameters:
    ///   - queue: Where `work` runs.
    ///   - flags: As for `DispatchQueue.async(flags:)`.
    ///   - onCancel: The error of a task that is cancelled before `work` starts; `work` is not called then. Later
    ///     cancellations are for `work` itself to notice.
    ///   - work: May throw, and fails the task then. Kept until it has run.
    public static func async(
        upon queue: DispatchQueue,
        flags: DispatchWorkItemFlags = [],
        onCancel error: @autoclosure @escaping @Sendable () -> any Error = CancellationError(),
        execute work: @escaping @Sendable () throws -> Success
    ) -> Task {
        let storage = FutureStorage<Result>()
        // Whoever claims the storage decides: the queue by starting, or a cancellation.
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

extension Task where Success == Never {
    /// Suspends the current Swift task for `duration`. See Swift's `Task.sleep(for:tolerance:clock:)`.
    public static func sleep<C: Clock>(
        for duration: C.Instant.Duration,
        tolerance: C.Instant.Duration? = nil,
        clock: C = .continuous
    ) async throws {
        try await _Concurrency.Task<Never, Never>.sleep(for: duration, tolerance: tolerance, clock: clock)
    }

    /// Suspends the current Swift task until `deadline`. See Swift's `Task.sleep(until:tolerance:clock:)`.
    public static func sleep<C: Clock>(
        until deadline: C.Instant,
        tolerance: C.Instant.Duration? = nil,
        clock: C = .continuous
    ) async throws {
        try await _Concurrency.Task<Never, Never>.sleep(until: deadline, tolerance: tolerance, clock: clock)
    }

    /// Suspends the current Swift task for `duration` nanoseconds. See Swift's `Task.sleep(nanoseconds:)`.
    public static func sleep(nanoseconds duration: UInt64) async throws {
        try await _Concurrency.Task<Never, Never>.sleep(nanoseconds: duration)
    }

    /// Whether the current Swift task was cancelled.
    public static var isCancelled: Bool { _Concurrency.Task<Never, Never>.isCancelled }

    /// Throws `CancellationError` if the current Swift task was cancelled.
    public static func checkCancellation() throws { try _Concurrency.Task<Never, Never>.checkCancellation() }

    /// Lets other Swift tasks run.
    public static func yield() async { await _Concurrency.Task<Never, Never>.yield() }

    /// The priority of the current Swift task.
    public static var currentPriority: TaskPriority { _Concurrency.Task<Never, Never>.currentPriority }
}

extension Task {
    /// Runs `operation` in Swift's concurrency, without the caller's actor, priority and task-local values.
    ///
    /// As Swift's own `Task.detached`; cancelling works as for ``init(priority:operation:)``.
    @discardableResult
    public static func detached(
        priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) -> Task {
        let storage = FutureStorage<Result>()
        let running = _Concurrency.Task.detached(priority: priority) {
            do {
                let value = try await operation()
                _ = storage.fill(with: .success(value))
            } catch {
                _ = storage.fill(with: .failure(error))
            }
        }
        return Task(storage, .opaque) { running.cancel() }
    }
}
