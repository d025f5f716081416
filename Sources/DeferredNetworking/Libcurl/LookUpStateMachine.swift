#if os(Linux)
internal import DeferredCore

/// Decides which names are looked up: each once at a time, whoever asks, and at most so many at once.
struct LookUpStateMachine {
    /// The addresses of a name as text, or the reason why there are none.
    typealias Outcome = Result<[String], LookUpFailure>

    typealias Instant = ContinuousClock.Instant

    enum Answer: Equatable {
        case known(Outcome)

        /// The caller looks the name up.
        case begin
        case wait
    }

    /// The consequences of the end of a look-up.
    struct End: Equatable {
        /// Those who waited for the name, in no order.
        let waiters: Set<Int>

        /// The name to look up next.
        let next: String?
    }

    private enum Entry {
        /// Too many others are in flight.
        case queued(Set<Int>)
        case inFlight(Set<Int>)
        case known(Outcome, until: Instant)
    }

    /// The time for which addresses are used: what libcurl has by default.
    static let lifetime = Duration.seconds(60)

    /// The time for which a look-up that got no answer is not begun again: those who wait for their turn meanwhile would
    /// each have to wait for as long.
    static let failureLifetime = Duration.seconds(1)

    /// The number of names above which those that nobody needs are removed.
    private static let mostEntries = 1_000

    private var entries: [String: Entry] = [:]
    private var queue = Queue<String>()
    private(set) var inFlightCount = 0
    var queueCount: Int { queue.count }
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func asked(for name: String, by waiter: Int, at now: Instant) -> Answer {
        switch entries[name] {
        case .known(let outcome, let end) where now < end:
            return .known(outcome)
        case .inFlight(let waiters):
            entries[name] = .inFlight(waiters.union([waiter]))
            return .wait
        case .queued(let waiters):
            entries[name] = .queued(waiters.union([waiter]))
            return .wait
        case .known, nil:
            if entries.count >= Self.mostEntries { removeKnown(at: now) }
            guard inFlightCount < limit else {
                entries[name] = .queued([waiter])
                queue.append(name)
                return .wait
            }
            inFlightCount += 1
            entries[name] = .inFlight([waiter])
            return .begin
        }
    }

    /// Notes that somebody no longer waits. A name for which nobody waits isn't looked up, unless that has begun.
    mutating func withdrew(_ waiter: Int, from name: String) {
        switch entries[name] {
        case .inFlight(let waiters):
            entries[name] = .inFlight(waiters.subtracting([waiter]))
        case .queued(let waiters):
            let rest = waiters.subtracting([waiter])
            entries[name] = rest.isEmpty ? nil : .queued(rest)
            if rest.isEmpty, queue.count > 2 * entries.count + 64 { removeStale() }
        case .known, nil:
            break
        }
    }

    mutating func ended(_ name: String, with outcome: Outcome, at now: Instant) -> End {
        guard case .inFlight(let waiters) = entries[name] else {
            preconditionFailure("the look-up of \(name) has ended, but is not in flight")
        }
        switch outcome {
        case .success: entries[name] = .known(outcome, until: now + Self.lifetime)
        case .failure(let failure) where failure.isTemporary:
            entries[name] = .known(outcome, until: now + Self.failureLifetime)
        case .failure: entries[name] = nil
        }
        while let next = queue.popFirst() {
            // It may have been withdrawn, and asked for once more.
            guard case .queued(let others) = entries[next] else { continue }
            entries[next] = .inFlight(others)
            return End(waiters: waiters, next: next)
        }
        inFlightCount -= 1
        return End(waiters: waiters, next: nil)
    }

    private mutating func removeStale() {
        queue.filter { name in if case .queued = entries[name] { true } else { false } }
    }

    private mutating func removeKnown(at now: Instant) {
        entries = entries.filter { if case .known(_, let end) = $0.value { now < end } else { true } }
    }
}

/// The reason why a name has no addresses.
struct LookUpFailure: Error, Equatable {
    let reason: String

    /// True if another look-up may succeed: there was no answer.
    let isTemporary: Bool
}
#endif
