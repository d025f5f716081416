/// A pure state machine for one token that many tasks share: each event returns an action to perform outside any lock.
///
/// ```
///              wanted                        refreshed
///   missing ───────────▶ refreshing ◀──────────────────────▶ valid
///      ▲                   │      refused, and none is newer
///      └──────failed───────┘
/// ```
struct TokenStateMachine: WaitingStateMachine {
    enum State: Sendable {
        case missing
        case valid(BearerToken)
        /// A new token is being fetched, for those that wait.
        case refreshing(round: Int)
    }

    enum Action {
        case use(BearerToken)
        /// Wait for the refresh under way.
        case wait
        /// Start a refresh, and wait for it.
        case refresh(round: Int)

        /// True if the request need not wait.
        var goesOn: Bool { if case .use = self { true } else { false } }
    }

    private(set) var state: State
    /// The tickets that wait. Kept out of the state, so that adding one does not copy the others.
    private var waiting: Set<UInt64> = []
    private var tokenCount: Int
    private var round = 0

    /// - Parameter token: The initial token.
    init(_ token: String?) {
        state = token.map { .valid(BearerToken(value: $0, number: 1)) } ?? .missing
        tokenCount = 1
    }

    /// The token, or `nil` if it has to be waited for.
    var current: BearerToken? {
        if case .valid(let token) = state { token } else { nil }
    }

    /// - Parameter refused: The token that the server refused; `nil` if none was tried.
    mutating func wanted(_ ticket: UInt64, refused: BearerToken?) -> Action {
        switch state {
        case .valid(let token) where token != refused:
            return .use(token)
        case .missing, .valid:
            waiting.insert(ticket)
            return .refresh(round: beginRefresh())
        case .refreshing:
            waiting.insert(ticket)
            return .wait
        }
    }

    mutating func cancelled(_ ticket: UInt64) -> Bool { waiting.remove(ticket) != nil }

    /// Ends the refresh.
    ///
    /// - Parameter token: The new token; `nil` if the refresh failed.
    /// - Returns: The tickets that waited, in order, and the token for them. Empty if there was a reset since the
    ///   refresh began.
    mutating func refreshed(_ token: String?, round: Int) -> (tickets: [UInt64], token: BearerToken?) {
        guard case .refreshing(round) = state else { return ([], nil) }
        defer { waiting = [] }
        tokenCount += 1
        let new = token.map { BearerToken(value: $0, number: tokenCount) }
        state = new.map { .valid($0) } ?? .missing
        return (waiting.sorted(), new)
    }

    /// Forgets the token, and ignores the result of a refresh under way.
    ///
    /// - Returns: The round of another refresh, if requests wait.
    mutating func reset() -> Int? {
        if !waiting.isEmpty { return beginRefresh() }
        state = .missing
        return nil
    }

    private mutating func beginRefresh() -> Int {
        round += 1
        state = .refreshing(round: round)
        return round
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
