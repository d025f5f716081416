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
    private var inFlight: [UInt64: Item] = [:]
    private var lastTicket: UInt64 = 0

    /// All items in flight, the newest first: a newer one may wait for older ones.
    var items: [Item] { inFlight.sorted { $0.key > $1.key }.map(\.value) }

    /// - Returns: The item's ticket; `nil` if the item arrives during a reset, and is to be cancelled.
    mutating func arrived(_ item: Item) -> UInt64? {
        guard state == .open else { return nil }
        lastTicket += 1
        inFlight[lastTicket] = item
        return lastTicket
    }

    /// Adds an item that continues another one in flight, such as the stream of a response; allowed during a reset.
    mutating func followed(_ item: Item) -> UInt64 {
        lastTicket += 1
        inFlight[lastTicket] = item
        return lastTicket
    }

    /// - Returns: `.resetNext` if the item was the last that a reset waited for.
    mutating func left(_ ticket: UInt64) -> Action {
        inFlight[ticket] = nil
        guard state == .draining, inFlight.isEmpty else { return .nothing }
        state = .resettingNext
        return .resetNext
    }

    mutating func reset() -> Action {
        guard state == .open else { return .nothing }
        guard inFlight.isEmpty else {
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
