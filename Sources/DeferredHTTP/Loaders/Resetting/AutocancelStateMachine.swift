/// The state of an ``Autocancel``: its items in flight, and the progress of its reset.
///
/// ```
///            reset, something is in flight             the last of it left
///   open ──────────────────────────────────▶ draining ─────────────────────┐
///    ▲ └──────────reset, nothing is─────────────────────────────────────▶ resettingNext
///    └───────────────────────────nextWasReset───────────────────────────────┘
/// ```
struct AutocancelStateMachine<Item: Sendable>: Sendable {
    enum State: Sendable {
        case open
        /// The items that were in flight when the reset began are still ending.
        case draining
        /// The loaders after this one are being reset.
        case resettingNext
    }

    enum Action {
        case nothing
        /// Cancel these items.
        case cancel([Item])
        case resetNext
    }

    private(set) var state = State.open
    /// What is in flight, by its ticket. A ticket is used again, so that coming and going takes no hashing.
    private var inFlight: [(number: UInt64, item: Item)?] = []
    private var freeTickets: [Int] = []
    private var lastNumber: UInt64 = 0

    private var isIdle: Bool { freeTickets.count == inFlight.count }

    /// All that is in flight, the newest first: the last to come may wait for those that came before.
    var items: [Item] { inFlight.compactMap(\.self).sorted { $0.number > $1.number }.map(\.item) }

    /// - Returns: What it is known by here until it leaves; `nil` if it comes during a reset, and is to be cancelled.
    mutating func arrived(_ item: Item) -> Int? {
        state == .open ? followed(item) : nil
    }

    /// Something that was in flight has left something else behind, which is in flight now.
    mutating func followed(_ item: Item) -> Int {
        lastNumber += 1
        guard let ticket = freeTickets.popLast() else {
            inFlight.append((lastNumber, item))
            return inFlight.count - 1
        }
        inFlight[ticket] = (lastNumber, item)
        return ticket
    }

    /// - Parameter ticket: Of something in flight.
    /// - Returns: `.resetNext` when it was the last that a reset waited for.
    mutating func left(_ ticket: Int) -> Action {
        precondition(inFlight[ticket] != nil, "an Autocancel was told twice that \(ticket) has left")
        inFlight[ticket] = nil
        freeTickets.append(ticket)
        guard state == .draining, isIdle else { return .nothing }
        state = .resettingNext
        return .resetNext
    }

    mutating func reset() -> Action {
        guard state == .open else { return .nothing }
        guard isIdle else {
            state = .draining
            return .cancel(items)
        }
        state = .resettingNext
        return .resetNext
    }

    mutating func nextWasReset() {
        precondition(state == .resettingNext, "an Autocancel in state \(state) was told that the next loader was reset")
        state = .open
    }
}
