/// A first-in, first-out queue of jobs that run when told to.
struct DrivenJobs<Job> {
    private var jobs: [Job] = []
    private var next = 0

    mutating func append(_ job: Job) {
        jobs.append(job)
    }

    /// Removes and returns the next job; returns `nil` when all have run.
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
