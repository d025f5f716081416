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

    private struct Place: Sendable {
        var number: UInt64
        /// `nil` if the ticket is free.
        var item: Item?
    }

    private(set) var state = State.open
    /// The items in flight by ticket. Tickets are reused, so that adding and removing take no hashing.
    private var inFlight: [Place] = []
    private var freeTickets: [Int] = []
    private var lastNumber: UInt64 = 0

    private var isIdle: Bool { freeTickets.count == inFlight.count }

    /// All items in flight, the newest first: a newer one may wait for older ones.
    var items: [Item] { inFlight.sorted { $0.number > $1.number }.compactMap(\.item) }

    /// - Returns: The item's ticket, until it leaves; `nil` if the item arrives during a reset, and is to be cancelled.
    mutating func arrived(_ item: Item) -> Int? {
        state == .open ? followed(item) : nil
    }

    /// Adds an item that continues another one in flight, such as the stream of a response; allowed during a reset.
    mutating func followed(_ item: Item) -> Int {
        lastNumber += 1
        guard let ticket = freeTickets.popLast() else {
            inFlight.append(Place(number: lastNumber, item: item))
            return inFlight.count - 1
        }
        inFlight[ticket] = Place(number: lastNumber, item: item)
        return ticket
    }

    /// - Parameter ticket: The ticket of an item in flight.
    /// - Returns: `.resetNext` if the item was the last that a reset waited for.
    mutating func left(_ ticket: Int) -> Action {
        precondition(inFlight[ticket].item != nil, "the request with ticket \(ticket) left an Autocancel twice")
        inFlight[ticket].item = nil
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
        precondition(state == .resettingNext, "the loader after an Autocancel in state \(state) finished a reset")
        state = .open
    }
}
