internal import DeferredNetworking

/// The running count and the queue of tickets: first in, first out for each host, with the hosts taking turns.
struct ThrottleStateMachine: Sendable {
    private(set) var maximum: Int
    private(set) var runningCount = 0
    private var waiting = FairQueue()
    private var lastTicket: UInt64 = 0

    init(maximum: Int) {
        self.maximum = max(1, maximum)
    }

    var waitingCount: Int { waiting.count }

    /// Starts a request that needn't wait; returns false if the request has to call `arrived`.
    mutating func passed() -> Bool {
        guard runningCount < maximum, waiting.count == 0 else { return false }
        runningCount += 1
        return true
    }

    /// - Returns: The ticket, and true if the request may go on now.
    mutating func arrived(host: String) -> (ticket: UInt64, goesOn: Bool) {
        lastTicket += 1
        if passed() { return (lastTicket, true) }
        waiting.append(lastTicket, host: host)
        return (lastTicket, false)
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
