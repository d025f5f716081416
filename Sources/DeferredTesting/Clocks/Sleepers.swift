/// Who sleeps until when, and who wants to know how many do: a pure machine, whose events return what is to be done
/// outside any lock.
///
/// `Sleeper` is what wakes one, `Watcher` what tells one who waits for others to sleep.
struct Sleepers<Sleeper: Sendable, Watcher: Sendable>: Sendable {
    private(set) var now = ManualClock.Instant()
    private var nextNumber: UInt64 = 0
    /// In the order in which they are to be woken. None is due.
    private var sleeping: [(ticket: SleepTicket, sleeper: Sleeper)] = []
    /// Each waits for more than sleep at present.
    private var watching: [(count: Int, watcher: Watcher)] = []

    var count: Int { sleeping.count }
    var nextDeadline: ManualClock.Instant? { sleeping.first?.ticket.deadline }

    /// What happens to someone who goes to sleep.
    enum Arrival: Sendable {
        /// The deadline has passed: is to be woken at once.
        case due
        /// Sleeps, and is the one whom these watchers waited for.
        case sleeps([Watcher])
    }

    /// Draws the number that decides who is woken first at the same deadline.
    mutating func ticket(until deadline: ManualClock.Instant) -> SleepTicket {
        defer { nextNumber += 1 }
        return SleepTicket(deadline: deadline, number: nextNumber)
    }

    mutating func sleep(_ ticket: SleepTicket, _ sleeper: Sleeper) -> Arrival {
        guard ticket.deadline > now else { return .due }
        sleeping.insert((ticket, sleeper), at: index(of: ticket))
        let satisfied = watching.filter { $0.count <= sleeping.count }
        watching.removeAll { $0.count <= sleeping.count }
        return .sleeps(satisfied.map(\.watcher))
    }

    /// Returns the sleeper if it has not been woken.
    mutating func cancel(_ ticket: SleepTicket) -> Sleeper? {
        let index = index(of: ticket)
        guard index < sleeping.count, sleeping[index].ticket == ticket else { return nil }
        return sleeping.remove(at: index).sleeper
    }

    /// Returns those that are due, in the order in which they are to be woken.
    mutating func advance(to instant: ManualClock.Instant) -> [Sleeper] {
        now = max(now, instant)
        let due = sleeping.prefix { $0.ticket.deadline <= now }.map(\.sleeper)
        sleeping.removeFirst(due.count)
        return due
    }

    mutating func advance(by duration: Duration) -> [Sleeper] {
        advance(to: now.advanced(by: duration))
    }

    mutating func advanceToNextDeadline() -> [Sleeper] {
        nextDeadline.map { advance(to: $0) } ?? []
    }

    /// Returns true if so many sleep already; then the watcher is not kept.
    mutating func watch(for count: Int, _ watcher: Watcher) -> Bool {
        guard count > sleeping.count else { return true }
        watching.append((count, watcher))
        return false
    }

    /// Where `ticket` is, or belongs.
    private func index(of ticket: SleepTicket) -> Int {
        var (low, high) = (0, sleeping.count)
        while low < high {
            let middle = (low + high) / 2
            if sleeping[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Names one who sleeps.
struct SleepTicket: Comparable {
    let deadline: ManualClock.Instant
    let number: UInt64

    static func < (one: SleepTicket, other: SleepTicket) -> Bool {
        (one.deadline, one.number) < (other.deadline, other.number)
    }
}
