internal import DeferredCore
internal import DeferredTask

/// The token shared by the copies of a ``BearerAuthentication``.
final class TokenStore: Sendable {
    private struct Waiter: Sendable {
        let task: HTTPTask
        let goOn: @Sendable (BearerToken) -> Void
    }

    private typealias Machine = TokenStateMachine<Waiter>

    private let machine: Lock<Machine>
    private let refresh: @Sendable (String?) -> Task<String>

    init(_ token: String?, refresh: @escaping @Sendable (String?) -> Task<String>) {
        machine = Lock(Machine(token))
        self.refresh = refresh
    }

    /// The token, or `nil` if it has to be waited for.
    var current: BearerToken? { machine.withLock { $0.current } }

    /// Calls `goOn` with a token other than `refused`, as soon as there is one, unless the task is cancelled before.
    func get(for task: HTTPTask, refused: BearerToken?, goOn: @escaping @Sendable (BearerToken) -> Void) {
        if task.failIfCancelled() { return }
        let (ticket, action) = machine.withLock { machine in
            let ticket = machine.makeTicket()
            return (ticket, machine.wanted(Waiter(task: task, goOn: goOn), ticket: ticket, refused: refused))
        }
        if case .use(let token) = action { return goOn(token) }
        task.addCancellationHandler { [weak self] in
            self?.machine.withLock { $0.cancelled(ticket) }?.task.fail(.cancelled)
        }
        // A task that an earlier loader completes no longer waits.
        task.addCompletionHandler { [weak self] _ in
            let gone = self?.machine.withLock { $0.cancelled(ticket) }
            withExtendedLifetime(gone) {}
        }
        perform(action, refused: refused?.value)
    }

    func reset() {
        if let action = machine.withLock({ $0.reset() }) { perform(action, refused: nil) }
    }

    private func perform(_ action: Machine.Action, refused: String?) {
        guard case .refresh(let round) = action else { return }
        refresh(refused).upon(.immediate) { result in self.end(round: round, with: result) }
    }

    private func end(round: Int, with result: Task<String>.Result) {
        let (waiters, token) = machine.withLock { $0.refreshed(try? result.get(), round: round) }
        for waiter in waiters {
            if let token {
                waiter.goOn(token)
            } else if case .failure(let error) = result {
                waiter.task.fail(.authenticationFailed, underlying: error)
            }
        }
    }
}
