internal import DeferredCore
internal import DeferredTask
internal import Foundation

/// A pure state machine for one token that many tasks share: each event returns an action to perform outside any lock.
///
/// ```
///              wanted                        refreshed
///   missing ───────────▶ refreshing ◀──────────────────────▶ valid
///    ▲   ▲                 │     │   refused, and none is newer
///    │   └──────failed─────┘     │ reset
///    └──────ended───── stopping ◀┘
/// ```
struct TokenStateMachine: WaitingStateMachine {
    enum State: Sendable {
        case missing
        case valid(BearerToken)
        /// A new token is being fetched, for those that wait.
        case refreshing(TokenRefresh)
        /// The refresh was cancelled by a reset, and has not ended. Its result doesn't count.
        case stopping(TokenRefresh)
    }

    enum Action {
        case use(BearerToken)
        /// Wait for the refresh under way.
        case wait
        /// Start a refresh, and wait for it.
        case refresh(TokenRefresh)
    }

    /// The action at the end of a refresh.
    enum Ending {
        case nothing
        /// Give the tickets the result.
        case serve([UInt64])
        /// Start another refresh, for those that wait.
        case refresh(TokenRefresh)
    }

    private(set) var state: State
    /// The tickets that wait. Kept out of the state, so that adding one does not copy the others.
    private var waiting: Set<UInt64> = []
    /// The last token that there was, refused, expired or not; `nil` after a reset.
    private(set) var newest: BearerToken?

    /// - Parameter token: The initial token.
    init(_ token: String?) {
        state = token.map { .valid(BearerToken($0)) } ?? .missing
        newest = current
    }

    /// The token, or `nil` if it has to be waited for.
    var current: BearerToken? {
        if case .valid(let token) = state { token } else { nil }
    }

    /// - Parameter refused: The token that the server refused; `nil` if none was tried.
    mutating func wanted(_ ticket: UInt64, refused: BearerToken?) -> Action {
        switch state {
        case .valid(let token) where token !== refused:
            return .use(token)
        case .missing, .valid:
            waiting.insert(ticket)
            return .refresh(beginRefresh())
        case .refreshing, .stopping:
            waiting.insert(ticket)
            return .wait
        }
    }

    mutating func cancelled(_ ticket: UInt64) -> Bool { waiting.remove(ticket) != nil }

    /// Ends a refresh.
    ///
    /// - Parameter token: The new token; `nil` if the refresh failed.
    mutating func refreshed(_ token: BearerToken?, by refresh: TokenRefresh) -> Ending {
        switch state {
        case .refreshing(refresh):
            defer { waiting = [] }
            state = token.map { .valid($0) } ?? .missing
            newest = token ?? newest
            return .serve(waiting.sorted())
        case .stopping(refresh):
            if !waiting.isEmpty { return .refresh(beginRefresh()) }
            state = .missing
            return .nothing
        default:
            return .nothing
        }
    }

    /// Forgets the token. The result of a refresh under way doesn't count; those that wait start another one when it
    /// has ended.
    ///
    /// - Returns: The refresh under way, to be stopped and waited for; `nil` if there is none.
    mutating func reset() -> TokenRefresh? {
        newest = nil
        switch state {
        case .missing, .valid:
            state = .missing
            return nil
        case .refreshing(let refresh), .stopping(let refresh):
            state = .stopping(refresh)
            return refresh
        }
    }

    private mutating func beginRefresh() -> TokenRefresh {
        let refresh = TokenRefresh()
        state = .refreshing(refresh)
        return refresh
    }
}

/// One call of the closure that fetches a token.
final class TokenRefresh: Sendable {
    /// The refresh whose closure is being called, or has started the current Swift task.
    @TaskLocal static var current: TokenRefresh?

    private let state = Lock((task: Task<BearerToken>?.none, response: HTTPResponse?.none, isStopped: false))
    private let end = Deferred<Void>()

    /// True if it was stopped, possibly before it has begun.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Filled when the refresh has ended, or is excused.
    var ended: Future<Void> { end.future }

    /// The response that has asked for it, until the end.
    var response: HTTPResponse? { state.withLock { $0.response } }

    /// Keeps the task of the refresh, to cancel it if the refresh is stopped.
    func begin(_ task: Task<BearerToken>, for response: HTTPResponse?) {
        let isStopped = state.withLock { state in
            (state.task, state.response) = (task, response)
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            return state.task
        }
        task?.cancel()
    }

    /// Lets nobody wait for the refresh: its code waits for a reset itself.
    func excuse() { end.fill() }

    func finish() {
        let gone = state.withLock { ($0.task.take(), $0.response.take()) }
        withExtendedLifetime(gone) { _ = end.fill() }
    }

    static func ~= (one: TokenRefresh, other: TokenRefresh) -> Bool { one === other }
}

/// A token. One that a refresh has brought is another one, even if it has the same value.
final class BearerToken: Sendable {
    let value: String
    /// The time until which it is worth sending; `nil` if it is sent until the server refuses it.
    let expiry: Date?
    /// The value of the header field.
    let field: String

    init(_ value: String, scheme: String = "Bearer", expiry: Date? = nil) {
        self.value = value
        self.expiry = expiry
        field = scheme + " " + value
    }
}
