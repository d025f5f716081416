/// Which of several jobs run, wait, or are tried again: a few at a time, in order.
///
/// A pure state machine; each event returns what has to be done about it.
struct Schedule {
    enum Phase: Equatable {
        case waiting(attempt: Int)
        case running(attempt: Int)

        /// The wait after a failed attempt. It occupies no place among those that run.
        case backingOff(attempt: Int)

        case ended
    }

    enum Ending: Equatable {
        case saved
        case failed(attempts: Int)
        case stopped
    }

    enum Action: Equatable {
        case begin(job: Int, attempt: Int)

        /// `retryDue` is wanted after this time.
        case wait(job: Int, Duration)

        case cancel(job: Int)
        case end(job: Int, Ending)

        /// Every job has ended. The last action of all.
        case finish
    }

    private(set) var phases: [Phase]
    private(set) var isStopping = false
    private var queue: [Int]
    private let maximum: Int
    private let policy: RetryPolicy

    init(jobCount: Int, maximum: Int, policy: RetryPolicy) {
        phases = Array(repeating: .waiting(attempt: 1), count: jobCount)
        queue = Array(0..<jobCount)
        self.maximum = maximum
        self.policy = policy
    }

    mutating func start() -> [Action] {
        fillPlaces()
    }

    mutating func succeeded(job: Int) -> [Action] {
        guard case .running = phases[job] else { return [] }
        return end(job, .saved) + fillPlaces()
    }

    mutating func failed(job: Int, isTransient: Bool) -> [Action] {
        guard case .running(let attempt) = phases[job] else { return [] }
        if isStopping { return end(job, .stopped) + fillPlaces() }
        guard isTransient, let delay = policy.delay(afterAttempt: attempt) else {
            return end(job, .failed(attempts: attempt)) + fillPlaces()
        }
        phases[job] = .backingOff(attempt: attempt)
        return [.wait(job: job, delay)] + fillPlaces()
    }

    mutating func retryDue(job: Int) -> [Action] {
        guard case .backingOff(let attempt) = phases[job] else { return [] }
        phases[job] = .waiting(attempt: attempt + 1)
        // What has begun goes before what hasn't.
        queue.insert(job, at: 0)
        return fillPlaces()
    }

    /// Ends what waits, and has what runs cancelled.
    mutating func stop() -> [Action] {
        guard !isStopping else { return [] }
        isStopping = true
        queue = []
        var actions: [Action] = []
        for job in phases.indices {
            switch phases[job] {
            case .waiting, .backingOff: actions += end(job, .stopped)
            case .running: actions.append(.cancel(job: job))
            case .ended: break
            }
        }
        return actions + fillPlaces()
    }

    private mutating func end(_ job: Int, _ ending: Ending) -> [Action] {
        phases[job] = .ended
        return [.end(job: job, ending)]
    }

    private mutating func fillPlaces() -> [Action] {
        if phases.allSatisfy({ $0 == .ended }) { return [.finish] }
        var actions: [Action] = []
        var running = phases.count { if case .running = $0 { true } else { false } }
        while running < maximum, !queue.isEmpty {
            let job = queue.removeFirst()
            guard case .waiting(let attempt) = phases[job] else { continue }
            phases[job] = .running(attempt: attempt)
            actions.append(.begin(job: job, attempt: attempt))
            running += 1
        }
        return actions
    }
}
