internal import DeferredCore

/// An asynchronous closure that belongs to an actor, or to none.
struct IsolatedOperation<Success: Sendable>: @unchecked Sendable {
    // SAFETY: sent here, and called once.
    private let body: @isolated(any) () async throws -> Success

    init(_ body: sending @escaping @isolated(any) () async throws -> Success) {
        self.body = body
    }

    /// Starts a Swift task on the closure's actor, not on the way there.
    ///
    /// By way of the global pool, tasks that an actor makes one after another would begin in any order; Swift's own keep
    /// theirs.
    func start(
        name: String?,
        priority: TaskPriority?,
        filling storage: FutureStorage<Task<Success>.Result>
    ) -> _Concurrency.Task<Void, Never> {
        let start: (isolated (any Actor)?) -> _Concurrency.Task<Void, Never> = { actor in
            _Concurrency.Task(name: name, priority: priority) {
                // Being captured makes it the actor of the new task.
                _ = actor
                await run(filling: storage)
            }
        }
        // SAFETY: `start` touches no state of the actor, and so may be called from anywhere.
        return unsafeBitCast(start, to: (((any Actor)?) -> _Concurrency.Task<Void, Never>).self)(body.isolation)
    }

    func run(filling storage: FutureStorage<Task<Success>.Result>) async {
        do {
            let value = try await body()
            _ = storage.fill(with: .success(value))
        } catch {
            _ = storage.fill(with: .failure(error))
        }
    }
}
