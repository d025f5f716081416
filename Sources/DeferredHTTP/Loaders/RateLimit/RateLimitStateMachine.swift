/// A token bucket, and the tickets of the requests that wait for a token.
///
/// Represented by the time at which the bucket will be full again: the generic cell rate algorithm of ITU-T I.371.
/// Times count from an arbitrary fixed moment.
struct RateLimitStateMachine: Sendable {
    /// The time in which the bucket regains one token.
    private let interval: Duration
    /// The time in which the bucket regains all tokens but one.
    private let tolerance: Duration
    private var fullAt: Duration?
    private var waiting: [UInt64] = []
    private var firstWaiting = 0
    private var cancelled: Set<UInt64> = []
    private var lastTicket: UInt64 = 0

    init(requestsPerSecond: Double, burst: Int) {
        // An interval of more than a century counts as never.
        let seconds = requestsPerSecond > 0 ? min(1 / requestsPerSecond, 0x1p32) : 0x1p32
        interval = .seconds(seconds)
        // Saturated well below what a duration can hold.
        tolerance = .seconds(min(seconds * Double(max(1, burst) - 1), 0x1p62))
    }

    var waitingCount: Int { waiting.count - firstWaiting - cancelled.count }

    /// - Returns: The ticket of a request that has to wait; `nil` if the request may go on.
    mutating func arrived(at now: Duration) -> UInt64? {
        if waitingCount == 0, take(at: now) { return nil }
        lastTicket += 1
        waiting.append(lastTicket)
        return lastTicket
    }

    /// - Returns: True if the request was waiting, and now is not to go on any more.
    mutating func cancelled(_ ticket: UInt64) -> Bool {
        // The tickets are in ascending order.
        var (low, high) = (firstWaiting, waiting.count)
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle] < ticket { low = middle + 1 } else { high = middle }
        }
        guard low < waiting.count, waiting[low] == ticket else { return false }
        return cancelled.insert(ticket).inserted
    }

    /// - Returns: The ticket of a waiting request that may go on now, if there is one.
    mutating func next(at now: Duration) -> UInt64? {
        skipCancelled()
        guard firstWaiting < waiting.count, take(at: now) else { return nil }
        defer { removeFirst() }
        return waiting[firstWaiting]
    }

    /// Returns the time until the next waiting request may go on; `nil` if none waits.
    mutating func pause(at now: Duration) -> Duration? {
        skipCancelled()
        guard firstWaiting < waiting.count else { return nil }
        return max(.zero, (fullAt ?? now) - tolerance - now)
    }

    private mutating func take(at now: Duration) -> Bool {
        let start = max(fullAt ?? now, now)
        guard start - now <= tolerance else { return false }
        fullAt = start + interval
        return true
    }

    private mutating func skipCancelled() {
        while firstWaiting < waiting.count, cancelled.remove(waiting[firstWaiting]) != nil { removeFirst() }
    }

    private mutating func removeFirst() {
        firstWaiting += 1
        if firstWaiting > 32, 2 * firstWaiting >= waiting.count {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
    }
}
