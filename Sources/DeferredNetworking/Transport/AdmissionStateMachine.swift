/// Decides which requests of a transport run, wait or are refused, and when its engine can be released.
struct AdmissionStateMachine {
    enum State: Equatable {
        case open

        /// Somebody has work to finish: new requests are accepted until that has ended.
        case finishing

        /// Current requests may end; new ones are refused.
        case closing

        /// No requests are left, and the engine has been released.
        case closed
    }

    enum Action: Equatable {
        /// Starts a request with a reference to the engine, until ``released()``.
        case start(UInt64)
        case refuse(UInt64)
        case invalidate
    }

    private(set) var state = State.open
    private var waiting = FairQueue()

    /// The requests that pause, and have no place meanwhile.
    private var aside: Set<UInt64> = []

    /// The requests that have paused, and wait for a place again.
    private var returning = FairQueue()
    private var runningCount = 0

    /// The number of requests that may still create tasks on the engine, or wait for the end of a task.
    private(set) var retainCount = 0

    /// The number of tasks that keep the transport open.
    private var workCount = 0

    private let limit: Int

    /// - Parameter limit: the maximum number of running requests; nil for no limit.
    init(limit: Int?) {
        self.limit = max(1, limit ?? .max)
    }

    mutating func arrived(_ request: UInt64, origin: @autoclosure () -> String) -> Action? {
        guard state == .open || state == .finishing else { return .refuse(request) }
        guard runningCount < limit else {
            waiting.append(request, host: origin())
            return nil
        }
        return start(request)
    }

    /// Returns whether a request has no place.
    func isWaiting(_ request: UInt64) -> Bool {
        waiting.contains(request) || returning.contains(request) || aside.contains(request)
    }

    /// Handles the end of a request that arrived and wasn't refused.
    mutating func left(_ request: UInt64) -> Action? {
        if waitingCount > 0, waiting.remove(request) || returning.remove(request) || aside.remove(request) != nil {
            return invalidateIfIdle()
        }
        return giveUpPlace()
    }

    /// Notes that a running request pauses, and gives its place to another one.
    mutating func steppedAside(_ request: UInt64) -> Action? {
        aside.insert(request)
        return giveUpPlace()
    }

    /// Notes that a request's pause is over, unless it has left meanwhile. It goes before requests that have not begun.
    mutating func cameBack(_ request: UInt64) -> Action? {
        guard aside.remove(request) != nil else { return nil }
        guard runningCount < limit else {
            returning.append(request, host: "")
            return nil
        }
        return start(request)
    }

    private mutating func giveUpPlace() -> Action? {
        runningCount -= 1
        guard let next = returning.popFirst() ?? waiting.popFirst() else { return invalidateIfIdle() }
        return start(next)
    }

    /// Gives a request a place, and counts the reference with which it begins.
    private mutating func start(_ request: UInt64) -> Action {
        runningCount += 1
        retainCount += 1
        return .start(request)
    }

    /// Handles the end of a reference that a request began with.
    mutating func released() -> Action? {
        retainCount -= 1
        return invalidateIfIdle()
    }

    /// Accepts requests until ``workEnded()``, also while it is being closed.
    mutating func workBegan() { workCount += 1 }

    mutating func workEnded() -> Action? {
        workCount -= 1
        guard workCount == 0, state == .finishing else { return nil }
        state = .closing
        return invalidateIfIdle()
    }

    /// - Parameter finishesWork: Whether new requests are accepted as long as somebody has work to finish.
    mutating func close(finishesWork: Bool = true) -> Action? {
        guard state == .open || state == .finishing else { return nil }
        state = finishesWork && workCount > 0 ? .finishing : .closing
        return invalidateIfIdle()
    }

    private var waitingCount: Int { waiting.count + returning.count + aside.count }

    private mutating func invalidateIfIdle() -> Action? {
        guard state == .closing, runningCount == 0, waitingCount == 0, retainCount == 0 else { return nil }
        state = .closed
        return .invalidate
    }
}
