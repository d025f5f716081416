/// Jobs that run when told to, first come first served.
struct DrivenJobs {
    private var jobs: [UnownedJob] = []
    private var next = 0

    mutating func append(_ job: consuming ExecutorJob) {
        jobs.append(UnownedJob(job))
    }

    /// The next job; `nil` when all have run.
    mutating func popFirst() -> UnownedJob? {
        guard next < jobs.count else {
            jobs.removeAll(keepingCapacity: true)
            next = 0
            return nil
        }
        defer { next += 1 }
        return jobs[next]
    }
}
