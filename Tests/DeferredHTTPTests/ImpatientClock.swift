/// A clock on which every pause ends at once, for tests in which pauses don't matter.
struct ImpatientClock: Clock {
    typealias Instant = ContinuousClock.Instant

    var now: Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try _Concurrency.Task.checkCancellation()
        await _Concurrency.Task.yield()
    }
}
