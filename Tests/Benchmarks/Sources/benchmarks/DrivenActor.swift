/// An actor that runs on the measuring thread, when told to, and with it the tasks that its code starts.
@globalActor
actor DrivenActor {
    static let shared = DrivenActor()

    private let executor = Executor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs `operation`, and all tasks, to their ends.
    static func run(_ operation: @escaping @Sendable @DrivenActor () async -> Void) {
        // A preference as well: Swift's tasks come back from a wait by way of the global pool, or of that.
        Task(executorPreference: shared.executor, operation: operation)
        shared.executor.run()
    }

    /// SAFETY: used from one thread.
    private final class Executor: TaskExecutor, SerialExecutor, @unchecked Sendable {
        @exclusivity(unchecked)
        private var jobs = DrivenJobs()

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.append(job)
        }

        func run() {
            while let job = jobs.popFirst() {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
        }
    }
}
