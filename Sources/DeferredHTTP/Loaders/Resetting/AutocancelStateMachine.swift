internal import DeferredTask

/// The state of an ``Autocancel``: its items in flight, and the number of resets under way, which let no other in.
struct AutocancelStateMachine<Item: Sendable>: Sendable {
    private var resetCount = 0
    private var inFlight = NumberedList<Item>()

    var isOpen: Bool { resetCount == 0 }

    /// All items in flight, the newest first: a newer one may wait for older ones.
    var items: [Item] { inFlight.elements.reversed() }

    /// - Returns: The item's number; `nil` if the item arrives during a reset, and is to be cancelled.
    mutating func arrived(_ item: Item) -> Int? {
        isOpen ? followed(item) : nil
    }

    /// Adds an item that continues another one in flight, such as the stream of a response; allowed during a reset.
    mutating func followed(_ item: Item) -> Int { inFlight.append(item) }

    /// - Parameter number: The number of an item in flight.
    /// - Returns: The item, and true if it was the last one.
    mutating func left(_ number: Int) -> (gone: Item, isLast: Bool) {
        guard let gone = inFlight.remove(number) else {
            preconditionFailure("the request with number \(number) left an Autocancel twice")
        }
        return (gone, inFlight.isEmpty)
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
