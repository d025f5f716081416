/// What an ``Autocancel`` has in flight, and how far its reset is.
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
        /// Waits for what was in flight when the reset began.
        case draining
        /// The loaders after this one are being reset.
        case resettingNext
    }

    enum Action {
        case nothing
        /// Stop these.
        case cancel([Item])
        case resetNext
    }

    private(set) var state = State.open
    private var inFlight: [UInt64: Item] = [:]
    private var lastTicket: UInt64 = 0

    /// All that is in flight, the newest first: the last to come may wait for those that came before.
    var items: [Item] { inFlight.sorted { $0.key > $1.key }.map(\.value) }

    /// - Returns: What it is known by here; `nil` if it comes during a reset, and is to be cancelled.
    mutating func arrived(_ item: Item) -> UInt64? {
        guard state == .open else { return nil }
        lastTicket += 1
        inFlight[lastTicket] = item
        return lastTicket
    }

    /// Something that was in flight has left something else behind, which is in flight now.
    mutating func followed(_ item: Item) -> UInt64 {
        lastTicket += 1
        inFlight[lastTicket] = item
        return lastTicket
    }

    /// - Returns: `.resetNext` when it was the last that a reset waited for.
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
