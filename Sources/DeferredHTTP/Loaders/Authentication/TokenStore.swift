internal import DeferredCore
internal import DeferredTask

/// The token shared by the copies of a ``BearerAuthentication``.
final class TokenStore: Sendable {
    private let room: WaitingRoom<TokenStateMachine, @Sendable (BearerToken) -> Void>
    private let refresh: @Sendable (String?) -> Task<String>

    init(_ token: String?, refresh: @escaping @Sendable (String?) -> Task<String>) {
        room = WaitingRoom(TokenStateMachine(token))
        self.refresh = refresh
    }

    /// The token, or `nil` if it has to be waited for.
    var current: BearerToken? { room.withMachine { $0.current } }

    /// Calls `goOn` with a token other than `refused`, as soon as there is one, unless the task is cancelled before.
    func get(for task: HTTPTask, refused: BearerToken?, goOn: @escaping @Sendable (BearerToken) -> Void) {
        if task.failIfCancelled() { return }
        var action = TokenStateMachine.Action.wait
        _ = room.enter(task, goOn) { machine, ticket in
            action = machine.wanted(ticket, refused: refused)
            return action.goesOn
        }
        switch action {
        case .use(let token): goOn(token)
        case .wait: break
        case .refresh(let round): beginRefresh(round, refused: refused?.value)
        }
    }

    func reset() {
        if let round = room.withMachine({ $0.reset() }) { beginRefresh(round, refused: nil) }
    }

    private func beginRefresh(_ round: Int, refused: String?) {
        refresh(refused).upon(.immediate) { result in self.end(round: round, with: result) }
    }

    private func end(round: Int, with result: Task<String>.Result) {
        var token: BearerToken?
        let waiters = room.all { machine in
            let (tickets, new) = machine.refreshed(try? result.get(), round: round)
            token = new
            return tickets
        }
        for waiter in waiters {
            if let token {
                waiter.context(token)
            } else if case .failure(let error) = result {
                waiter.task.fail(.authenticationFailed, underlying: error)
            }
        }
    }
}
