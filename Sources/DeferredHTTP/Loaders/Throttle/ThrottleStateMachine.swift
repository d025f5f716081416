internal import DeferredNetworking

/// The running count and the queue of tickets: first in, first out for each host, with the hosts taking turns.
struct ThrottleStateMachine: WaitingStateMachine {
    private(set) var maximum: Int
    private(set) var runningCount = 0
    private var waiting = FairQueue()

    init(maximum: Int) {
        self.maximum = max(1, maximum)
    }

    var waitingCount: Int { waiting.count }

    /// - Parameter host: Read only if the request has to wait.
    /// - Returns: True if the request goes on; false if it has to wait.
    mutating func arrived(_ ticket: UInt64, host: @autoclosure () -> String) -> Bool {
        guard runningCount < maximum, waiting.count == 0 else {
            waiting.append(ticket, host: host())
            return false
        }
        runningCount += 1
        return true
    }

    /// - Returns: True if the request was waiting, and now is not to go on any more.
    mutating func cancelled(_ ticket: UInt64) -> Bool { waiting.remove(ticket) }

    /// Notes the end of a request that went on.
    mutating func ended() { runningCount -= 1 }

    mutating func setMaximum(_ maximum: Int) { self.maximum = max(1, maximum) }

    /// - Returns: The ticket of a waiting request that may go on now, if there is one.
    mutating func next() -> UInt64? {
        guard runningCount < maximum, let ticket = waiting.popFirst() else { return nil }
        runningCount += 1
        return ticket
    }
}
