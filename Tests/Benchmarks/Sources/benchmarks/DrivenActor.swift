/// An actor that runs, with the tasks that its code starts, on the measuring thread, when it is told to.
@globalActor
actor DrivenActor {
    static let shared = DrivenActor()

    private let queue = Queue()

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// Runs `operation`, and all tasks, until they have ended.
    static func run(_ operation: @escaping @Sendable @DrivenActor () async -> Void) {
        // The preference is needed, too: without it, Swift's tasks return from a suspension through the global pool.
        Task(executorPreference: shared.queue.pool, operation: operation)
        shared.queue.run()
    }

    /// The executor of the actor.
    ///
    /// SAFETY: used from one thread.
    private final class Queue: SerialExecutor, @unchecked Sendable {
        let pool = Pool()
        /// The task from which all others originate.
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
                // A task that runs without its preferred executor, or with another one, is enqueued again whenever it
                // checks.
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

        /// Returns the address of the task that a job belongs to.
        private static func identity(of job: UnownedJob) -> UInt { unsafeBitCast(job, to: UInt.self) }
    }

    /// The executor of tasks that are not on an actor.
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
