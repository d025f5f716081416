/// A pure state machine for the sleeping tasks of a clock and for the watchers that wait for tasks to fall asleep.
///
/// Its events return the sleepers to wake and the watchers to notify, which the caller does outside of any lock. A
/// `Sleeper` is the means of waking one task, a `Watcher` the means of notifying one watcher.
struct Sleepers<Sleeper: Sendable, Watcher: Sendable>: Sendable {
    private(set) var now = ManualClock.Instant()
    private var nextNumber: UInt64 = 0
    /// In the order in which they are to be woken. None of them is due.
    private var sleeping: [(ticket: SleepTicket, sleeper: Sleeper)] = []
    /// Each watcher waits for more sleepers than there are now.
    private var watching: [(count: Int, watcher: Watcher)] = []

    var count: Int { sleeping.count }
    var nextDeadline: ManualClock.Instant? { sleeping.first?.ticket.deadline }

    /// The outcome of an attempt to fall asleep.
    enum Arrival: Sendable {
        /// The deadline has passed: the sleeper is to be woken at once.
        case due
        /// The sleeper is asleep, and is the last one that these watchers waited for.
        case sleeps([Watcher])
    }

    /// Creates a ticket; its number decides the order of waking among equal deadlines.
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

    /// Removes and returns the sleeper, unless it has been woken.
    mutating func cancel(_ ticket: SleepTicket) -> Sleeper? {
        let index = index(of: ticket)
        guard index < sleeping.count, sleeping[index].ticket == ticket else { return nil }
        return sleeping.remove(at: index).sleeper
    }

    /// Removes and returns the sleepers that are due, in the order in which they are to be woken.
    mutating func advance(to instant: ManualClock.Instant) -> [Sleeper] {
        now = max(now, instant)
        let due = sleeping.prefix { $0.ticket.deadline <= now }.map(\.sleeper)
        sleeping.removeFirst(due.count)
        return due
    }

    mutating func advanceToNextDeadline() -> [Sleeper] {
        nextDeadline.map { advance(to: $0) } ?? []
    }

    /// Returns true, without keeping the watcher, if at least `count` sleepers are asleep already.
    mutating func watch(for count: Int, _ watcher: Watcher) -> Bool {
        guard count > sleeping.count else { return true }
        watching.append((count, watcher))
        return false
    }

    /// The index of `ticket`, or the index at which to insert it.
    private func index(of ticket: SleepTicket) -> Int {
        var (low, high) = (0, sleeping.count)
        while low < high {
            let middle = (low + high) / 2
            if sleeping[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Identifies a sleeper. Tickets are ordered by deadline, then by number.
struct SleepTicket: Comparable {
    let deadline: ManualClock.Instant
    let number: UInt64

    static func < (one: SleepTicket, other: SleepTicket) -> Bool {
        (one.deadline, one.number) < (other.deadline, other.number)
    }
}
