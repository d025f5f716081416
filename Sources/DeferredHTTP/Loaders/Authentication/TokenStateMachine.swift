/// One token for many tasks, as a pure machine: each event returns what has to be done, outside any lock.
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
        /// A new one is being fetched; the waiters wait for it.
        case refreshing(round: Int)
    }

    enum Action {
        case use(BearerToken)
        /// Wait for the refresh under way.
        case wait
        /// Begin a refresh, and wait for it.
        case refresh(round: Int)
    }

    private(set) var state: State
    /// By their tickets. Beside the state, so that adding one copies no other.
    private var waiters: [UInt64: Waiter] = [:]
    private var tokenCount: Int
    private var round = 0
    private var lastTicket: UInt64 = 0

    /// - Parameter token: What to begin with.
    init(_ token: String?) {
        state = token.map { .valid(BearerToken(value: $0, number: 1)) } ?? .missing
        tokenCount = 1
    }

    /// The token, unless one has to be waited for.
    var current: BearerToken? {
        if case .valid(let token) = state { token } else { nil }
    }

    /// A ticket for `wanted`.
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

    /// - Returns: What waited, and doesn't any more.
    mutating func cancelled(_ ticket: UInt64) -> Waiter? { waiters.removeValue(forKey: ticket) }

    /// The refresh has ended.
    ///
    /// - Parameter token: The new one; `nil` if it failed.
    /// - Returns: Who waited, in order, and the token for them. Nobody, if there was a reset since the refresh began.
    mutating func refreshed(_ token: String?, round: Int) -> (waiters: [Waiter], token: BearerToken?) {
        guard case .refreshing(round) = state else { return ([], nil) }
        defer { waiters = [:] }
        tokenCount += 1
        let new = token.map { BearerToken(value: $0, number: tokenCount) }
        state = new.map { .valid($0) } ?? .missing
        return (waiters.sorted { $0.key < $1.key }.map(\.value), new)
    }

    /// Forgets the token, and what a refresh under way will bring.
    ///
    /// - Returns: Another refresh, if somebody waits.
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

/// A token, and which of all that there were it is.
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
