/// Runs Swift tasks on the measuring thread, when it is told to.
///
/// The global pool would add the wake-up of another thread to every suspension: thousands of nanoseconds that are
/// unrelated to the comparison.
///
/// SAFETY: used from one thread.
final class DrivenExecutor: TaskExecutor, @unchecked Sendable {
    @exclusivity(unchecked)
    private var jobs = DrivenJobs<UnownedJob>()

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.append(UnownedJob(job))
    }

    /// Runs jobs, first in, first out, until all tasks are suspended or have ended.
    func run() {
        while let job = jobs.popFirst() {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Starts `operation` and runs it until it ends or is suspended for the first time.
    @discardableResult
    func start<Success: Sendable>(_ operation: @escaping @Sendable () async -> Success) -> Task<Success, Never> {
        let task = Task(executorPreference: self) { await operation() }
        run()
        return task
    }
}
