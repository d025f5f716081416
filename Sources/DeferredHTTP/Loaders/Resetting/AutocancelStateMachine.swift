/// The state of an ``Autocancel``: its items in flight, and the number of resets under way, which let no other in.
struct AutocancelStateMachine<Item: Sendable>: Sendable {
    private struct Place: Sendable {
        var number: UInt64
        /// `nil` if the ticket is free.
        var item: Item?
    }

    private var resetCount = 0
    /// The items in flight by ticket. Tickets are reused, so that adding and removing take no hashing.
    private var inFlight: [Place] = []
    private var freeTickets: [Int] = []
    private var lastNumber: UInt64 = 0

    var isOpen: Bool { resetCount == 0 }

    /// All items in flight, the newest first: a newer one may wait for older ones.
    var items: [Item] { inFlight.sorted { $0.number > $1.number }.compactMap(\.item) }

    /// - Returns: The item's ticket, until it leaves; `nil` if the item arrives during a reset, and is to be cancelled.
    mutating func arrived(_ item: Item) -> Int? {
        isOpen ? followed(item) : nil
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
    /// - Returns: True if the item was the last one.
    mutating func left(_ ticket: Int) -> Bool {
        precondition(inFlight[ticket].item != nil, "the request with ticket \(ticket) left an Autocancel twice")
        inFlight[ticket].item = nil
        freeTickets.append(ticket)
        return freeTickets.count == inFlight.count
    }

    /// Begins a reset.
    ///
    /// - Returns: The items to cancel.
    mutating func close() -> [Item] {
        resetCount += 1
        return items
    }

    /// Ends a reset.
    mutating func reopen() {
        precondition(resetCount > 0, "an Autocancel ended a reset that had not begun")
        resetCount -= 1
    }
}
