public import DeferredCore

/// An asynchronous closure that is isolated to an actor, or to none, and the storage for its result.
///
/// SAFETY: `body` is sent into this value, and called once.
@frozen
@usableFromInline
struct IsolatedOperation<Success: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Running = _Concurrency.Task<Void, Never>

    /// The time of the start, and whether the task inherits anything but the actor.
    @usableFromInline
    enum Start: Sendable { case later, immediate, immediateDetached }

    @usableFromInline let body: @isolated(any) () async throws -> Success
    @usableFromInline let storage = ProducerStorage<Task<Success>.Result>()

    @inlinable
    init(_ body: sending @escaping @isolated(any) () async throws -> Success) {
        self.body = body
    }

    /// Starts a Swift task directly on the closure's actor, without a hop through the global pool.
    ///
    /// With that hop, tasks that an actor creates one after another would begin in any order; Swift's own tasks keep
    /// their order.
    @inlinable
    func start(
        _ start: Start = .later,
        name: String?,
        priority: TaskPriority?,
        executorPreference executor: (any TaskExecutor)? = nil
    ) -> Task<Success> {
        typealias Isolated = ((any Actor)?, Self, Start, String?, TaskPriority?, (any TaskExecutor)?) -> Running
        // SAFETY: the function touches no state of the actor, and so may be called from anywhere.
        let isolated = unsafeBitCast(Self.start, to: Isolated.self)
        return task(isolated(body.isolation, self, start, name, priority, executor))
    }

    /// Returns the task of the Swift task that runs this.
    @inlinable
    func task(_ running: Running) -> Task<Success> {
        storage.running = running
        return Task(storage, TaskControl(storage, .running(running)))
    }

    // Capturing the actor isolates the new task to it.
    @inlinable
    static func start(
        on actor: isolated (any Actor)?,
        _ operation: Self,
        _ start: Start,
        name: String?,
        priority: TaskPriority?,
        executorPreference executor: (any TaskExecutor)?
    ) -> Running {
        guard start != .later, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Running(name: name, priority: priority) {
                _ = actor
                await operation.run()
            }
        }
        if start == .immediateDetached {
            return Running.immediateDetached(name: name, priority: priority, executorPreference: executor) {
                _ = actor
                await operation.run()
            }
        }
        return Running.immediate(name: name, priority: priority, executorPreference: executor) {
            _ = actor
            await operation.run()
        }
    }

    @inlinable
    @inline(__always)
    func run() async {
        do {
            let value = try await body()
            let result = Task<Success>.Result.success(value)
            storage.end(with: result, hasFailed: false, isTrivial: result.isTrivial) { TaskNode.end($0) }
        } catch {
            storage.end(with: .failure(error), hasFailed: true) { TaskNode.end($0) }
        }
    }
}
