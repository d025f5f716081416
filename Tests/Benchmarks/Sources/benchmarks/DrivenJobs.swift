/// Jobs that run when told to, first come first served.
struct DrivenJobs<Job> {
    private var jobs: [Job] = []
    private var next = 0

    mutating func append(_ job: Job) {
        jobs.append(job)
    }

    /// The next job; `nil` when all have run.
    mutating func popFirst() -> Job? {
        guard next < jobs.count else {
            jobs.removeAll(keepingCapacity: true)
            next = 0
            return nil
        }
        defer { next += 1 }
        return jobs[next]
    }
}
