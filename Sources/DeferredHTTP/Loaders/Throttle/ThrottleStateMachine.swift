internal import DeferredNetworking

/// Who may go on, and who waits: by tickets, in the order in which they came for each host, and the hosts take turns.
struct ThrottleStateMachine: Sendable {
    private(set) var maximum: Int
    private(set) var runningCount = 0
    private var waiting = FairQueue()
    private var lastTicket: UInt64 = 0

    init(maximum: Int) {
        self.maximum = max(1, maximum)
    }

    var waitingCount: Int { waiting.count }

    /// Lets one go on that needn't wait; false if it has to arrive.
    mutating func passed() -> Bool {
        guard runningCount < maximum, waiting.count == 0 else { return false }
        runningCount += 1
        return true
    }

    /// - Returns: The ticket, and whether it may go on now.
    mutating func arrived(host: String) -> (ticket: UInt64, goesOn: Bool) {
        lastTicket += 1
        if passed() { return (lastTicket, true) }
        waiting.append(lastTicket, host: host)
        return (lastTicket, false)
    }

    /// - Returns: Whether it waited, and is not to go on any more.
    mutating func cancelled(_ ticket: UInt64) -> Bool { waiting.remove(ticket) }

    /// One that went on has ended.
    mutating func ended() { runningCount -= 1 }

    mutating func setMaximum(_ maximum: Int) { self.maximum = max(1, maximum) }

    /// - Returns: One that waited and may go on now, if there is one.
    mutating func next() -> UInt64? {
        guard runningCount < maximum, let ticket = waiting.popFirst() else { return nil }
        runningCount += 1
        return ticket
    }
}
