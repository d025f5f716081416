/// A pure state machine for one token that many tasks share: each event returns an action to perform outside any lock.
///
/// ```
///              wanted                        refreshed
///   missing ───────────▶ refreshing ◀──────────────────────▶ valid
///      ▲                   │      refused, and none is newer
///      └──────failed───────┘
/// ```
struct TokenStateMachine<Waiter: Sendable>: Sendable {
    enum State: Sendable {
        case missing
        case valid(BearerToken)
        /// A new token is being fetched; the waiters wait for it.
        case refreshing(round: Int)
    }

    enum Action {
        case use(BearerToken)
        /// Wait for the refresh under way.
        case wait
        /// Start a refresh, and wait for it.
        case refresh(round: Int)
    }

    private(set) var state: State
    /// The waiters by their tickets. Kept out of the state, so that adding a waiter does not copy the others.
    private var waiters: [UInt64: Waiter] = [:]
    private var tokenCount: Int
    private var round = 0
    private var lastTicket: UInt64 = 0

    /// - Parameter token: The initial token.
    init(_ token: String?) {
        state = token.map { .valid(BearerToken(value: $0, number: 1)) } ?? .missing
        tokenCount = 1
    }

    /// The token, or `nil` if it has to be waited for.
    var current: BearerToken? {
        if case .valid(let token) = state { token } else { nil }
    }

    /// Returns a new ticket for `wanted`.
    mutating func makeTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    /// - Parameter refused: The token that the server refused; `nil` if none was tried.
    mutating func wanted(_ waiter: Waiter, ticket: UInt64, refused: BearerToken?) -> Action {
        switch state {
        case .valid(let token) where token != refused:
            return .use(token)
        case .missing, .valid:
            waiters[ticket] = waiter
            return beginRefresh()
        case .refreshing:
            waiters[ticket] = waiter
            return .wait
        }
    }

    /// - Returns: The waiter, if it still waited.
    mutating func cancelled(_ ticket: UInt64) -> Waiter? { waiters.removeValue(forKey: ticket) }

    /// Ends the refresh.
    ///
    /// - Parameter token: The new token; `nil` if the refresh failed.
    /// - Returns: The waiters, in order, and the token for them. Empty if there was a reset since the refresh began.
    mutating func refreshed(_ token: String?, round: Int) -> (waiters: [Waiter], token: BearerToken?) {
        guard case .refreshing(round) = state else { return ([], nil) }
        defer { waiters = [:] }
        tokenCount += 1
        let new = token.map { BearerToken(value: $0, number: tokenCount) }
        state = new.map { .valid($0) } ?? .missing
        return (waiters.sorted { $0.key < $1.key }.map(\.value), new)
    }

    /// Forgets the token, and ignores the result of a refresh under way.
    ///
    /// - Returns: Another refresh, if there are waiters.
    mutating func reset() -> Action? {
        if !waiters.isEmpty { return beginRefresh() }
        state = .missing
        return nil
    }

    private mutating func beginRefresh() -> Action {
        round += 1
        state = .refreshing(round: round)
        return .refresh(round: round)
    }
}

/// A token, with its position among all tokens that there have been.
struct BearerToken: Hashable, Sendable {
    let value: String
    let number: Int
    /// The value of the header field.
    let field: String

    init(value: String, number: Int) {
        self.value = value
        self.number = number
        field = "Bearer " + value
    }
}
