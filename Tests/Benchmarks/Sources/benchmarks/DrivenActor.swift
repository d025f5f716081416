/// An actor that runs on the measuring thread, when told to, and with it the tasks that its code starts.
@globalActor
actor DrivenActor {
    static let shared = DrivenActor()

    private let queue = Queue()

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// Runs `operation`, and all tasks, to their ends.
    static func run(_ operation: @escaping @Sendable @DrivenActor () async -> Void) {
        // A preference as well: Swift's tasks come back from a wait by way of the global pool, or of that.
        Task(executorPreference: shared.queue.pool, operation: operation)
        shared.queue.run()
    }

    /// What the actor runs on.
    ///
    /// SAFETY: used from one thread.
    private final class Queue: SerialExecutor, @unchecked Sendable {
        let pool = Pool()
        /// The task that all others come from.
        @exclusivity(unchecked)
        private var main: UInt?

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            main = main ?? Self.identity(of: job)
            pool.jobs.append(.actor(job))
        }

        func run() {
            while let job = pool.jobs.popFirst() {
                switch job {
                // A task that finds itself without what it prefers, or with what it doesn't, is enqueued again at each look.
                case .actor(let job) where Self.identity(of: job) == main:
                    job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(),
                        taskExecutor: pool.asUnownedTaskExecutor()
                    )
                case .actor(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .pool(let job): job.runSynchronously(on: pool.asUnownedTaskExecutor())
                }
            }
            main = nil
        }

        /// The address of the task that a job belongs to.
        private static func identity(of job: UnownedJob) -> UInt { unsafeBitCast(job, to: UInt.self) }
    }

    /// What tasks run on while they are on no actor.
    ///
    /// SAFETY: used from one thread.
    private final class Pool: TaskExecutor, @unchecked Sendable {
        enum Job {
            case actor(UnownedJob)
            case pool(UnownedJob)
        }

        @exclusivity(unchecked)
        var jobs = DrivenJobs<Job>()

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.append(.pool(UnownedJob(job)))
        }
    }
}
