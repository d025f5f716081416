internal import DeferredCore
internal import DeferredNetworking

/// A token bucket, and the tickets of the requests that wait for a token.
///
/// Represented by the time at which the bucket will be full again: the generic cell rate algorithm of ITU-T I.371.
/// Times count from an arbitrary fixed moment.
struct RateLimitStateMachine: WaitingStateMachine {
    /// The time in which the bucket regains one token.
    private let interval: Duration
    /// The time in which the bucket regains all tokens but one.
    private let tolerance: Duration
    private var fullAt: Duration?
    /// All hosts wait in one line.
    private var waiting = FairQueue()
    /// True while a timer or its closure will let waiting requests go on.
    private var isTimed = false

    init(requestsPerSecond: Double, burst: Int) {
        // An interval of more than a century counts as never.
        let never = Double(Duration.forever.components.seconds)
        let seconds = requestsPerSecond > 0 ? min(1 / requestsPerSecond, never) : never
        interval = .seconds(seconds)
        // Limited to well below what a duration can hold.
        tolerance = .seconds(min(seconds * Double(max(1, burst) - 1), 0x1p62))
    }

    var waitingCount: Int { waiting.count }

    /// - Returns: True if the request goes on; false if it has to wait.
    mutating func arrived(_ ticket: UInt64, at now: Duration) -> Bool {
        if waiting.count == 0, take(at: now) { return true }
        waiting.append(ticket, host: "")
        return false
    }

    /// - Returns: True if the request was waiting, and now is not to go on any more.
    mutating func cancelled(_ ticket: UInt64) -> Bool { waiting.remove(ticket) }

    /// - Returns: The ticket of a waiting request that may go on now, if there is one.
    mutating func next(at now: Duration) -> UInt64? {
        waiting.count > 0 && take(at: now) ? waiting.popFirst() : nil
    }

    /// - Returns: The time until the next waiting request may go on; `nil` if none waits, or a timer is running.
    mutating func startTimer(at now: Duration) -> Duration? {
        guard !isTimed, waiting.count > 0 else { return nil }
        isTimed = true
        return max(.zero, (fullAt ?? now) - tolerance - now)
    }

    mutating func timerEnded() { isTimed = false }

    private mutating func take(at now: Duration) -> Bool {
        let start = max(fullAt ?? now, now)
        guard start - now <= tolerance else { return false }
        fullAt = start + interval
        return true
    }
}
