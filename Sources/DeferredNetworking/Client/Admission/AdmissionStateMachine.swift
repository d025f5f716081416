/// Decides which requests of a client run, wait or are refused, and when its engine can go.
struct AdmissionStateMachine {
    enum State: Equatable {
        case open

        /// What is here may end; nothing new comes in.
        case closing

        /// Nothing is left, and the engine was given up.
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

    /// Attempts and transfers that may still make tasks on the engine, or wait for the end of one.
    private var leaseCount = 0

    private let limit: Int

    /// - Parameter limit: how many run at a time; nil for any number.
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

    /// A request that arrived and wasn't refused has ended.
    mutating func left(_ request: UInt64) -> [Action] {
        guard !waiting.remove(request) else { return invalidateIfIdle() }
        guard let next = waiting.popFirst() else {
            runningCount -= 1
            return invalidateIfIdle()
        }
        return [.start(next)]
    }

    /// Whether a transfer may begin.
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
