public import DeferredCore

/// An asynchronous closure that is isolated to an actor, or to none.
///
/// SAFETY: `body` is sent into this value, and called once.
@usableFromInline
struct IsolatedOperation<Success: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Storage = ProducerStorage<Task<Success>.Result>

    @usableFromInline let body: @isolated(any) () async throws -> Success

    @inlinable
    init(_ body: sending @escaping @isolated(any) () async throws -> Success) {
        self.body = body
    }

    /// Starts a Swift task directly on the closure's actor, without a hop through the global pool.
    ///
    /// With that hop, tasks that an actor creates one after another would begin in any order; Swift's own tasks keep
    /// their order.
    @inlinable
    func start(name: String?, priority: TaskPriority?, filling storage: Storage) -> _Concurrency.Task<Void, Never> {
        typealias Start = ((any Actor)?, Self, String?, TaskPriority?, Storage) -> _Concurrency.Task<Void, Never>
        // SAFETY: the function touches no state of the actor, and so may be called from anywhere.
        let start = unsafeBitCast(Self.start, to: Start.self)
        return start(body.isolation, self, name, priority, storage)
    }

    @inlinable
    static func start(
        on actor: isolated (any Actor)?,
        _ operation: Self,
        name: String?,
        priority: TaskPriority?,
        filling storage: Storage
    ) -> _Concurrency.Task<Void, Never> {
        _Concurrency.Task(name: name, priority: priority) {
            // Capturing the actor isolates the new task to it.
            _ = actor
            await operation.run(filling: storage)
        }
    }

    /// Runs the closure as a Swift task, immediately if it is isolated to the actor on which this is called, or to
    /// none.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @inlinable
    func startNow(
        name: String?,
        priority: TaskPriority?,
        executorPreference executor: (any TaskExecutor)?,
        isDetached: Bool = false,
        filling storage: Storage
    ) -> _Concurrency.Task<Void, Never> {
        typealias Start = (
            (any Actor)?, Self, String?, TaskPriority?, (any TaskExecutor)?, Bool, Storage
        ) -> _Concurrency.Task<Void, Never>
        // SAFETY: the function touches no state of the actor, and so may be called from anywhere.
        let start = unsafeBitCast(Self.startNow, to: Start.self)
        return start(body.isolation, self, name, priority, executor, isDetached, storage)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @inlinable
    static func startNow(
        on actor: isolated (any Actor)?,
        _ operation: Self,
        name: String?,
        priority: TaskPriority?,
        executorPreference executor: (any TaskExecutor)?,
        isDetached: Bool,
        filling storage: Storage
    ) -> _Concurrency.Task<Void, Never> {
        if isDetached {
            return _Concurrency.Task.immediateDetached(name: name, priority: priority, executorPreference: executor) {
                _ = actor
                await operation.run(filling: storage)
            }
        }
        return _Concurrency.Task.immediate(name: name, priority: priority, executorPreference: executor) {
            // Capturing the actor isolates the new task to it.
            _ = actor
            await operation.run(filling: storage)
        }
    }

    @inlinable
    @inline(__always)
    func run(filling storage: Storage) async {
        do {
            let value = try await body()
            let result = Task<Success>.Result.success(value)
            storage.end(with: result, hasFailed: false, isTrivial: result.isTrivial) { TaskNode.end($0) }
        } catch {
            storage.end(with: .failure(error), hasFailed: true) { TaskNode.end($0) }
        }
    }
}
