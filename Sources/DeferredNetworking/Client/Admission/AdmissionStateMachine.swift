/// Decides which requests of a client run, wait or are refused, and when its engine can be released.
struct AdmissionStateMachine {
    enum State: Equatable {
        case open

        /// Current requests may end; new ones are refused.
        case closing

        /// No requests are left, and the engine has been released.
        case closed
    }

    enum Action: Equatable {
        case start(UInt64)
        case refuse(UInt64)
        case invalidate
    }

    private(set) var state = State.open
    private var waiting = FairQueue()
    private var runningCount = 0

    /// The number of attempts and transfers that may still create tasks on the engine, or wait for the end of a task.
    private var leaseCount = 0

    private let limit: Int

    /// - Parameter limit: the maximum number of running requests; nil for no limit.
    init(limit: Int?) {
        self.limit = max(1, limit ?? .max)
    }

    mutating func arrived(_ request: UInt64, host: String) -> [Action] {
        guard state == .open else { return [.refuse(request)] }
        guard runningCount < limit else {
            waiting.append(request, host: host)
            return []
        }
        runningCount += 1
        return [.start(request)]
    }

    /// Handles the end of a request that arrived and wasn't refused.
    mutating func left(_ request: UInt64) -> [Action] {
        guard !waiting.remove(request) else { return invalidateIfIdle() }
        guard let next = waiting.popFirst() else {
            runningCount -= 1
            return invalidateIfIdle()
        }
        return [.start(next)]
    }

    /// Counts a lease and returns true if a transfer may begin.
    mutating func leased() -> Bool {
        guard state != .closed else { return false }
        leaseCount += 1
        return true
    }

    mutating func leaseReturned() -> [Action] {
        leaseCount -= 1
        return invalidateIfIdle()
    }

    mutating func close() -> [Action] {
        guard state == .open else { return [] }
        state = .closing
        return invalidateIfIdle()
    }

    private mutating func invalidateIfIdle() -> [Action] {
        guard state == .closing, runningCount == 0, waiting.count == 0, leaseCount == 0 else { return [] }
        state = .closed
        return [.invalidate]
    }
}
