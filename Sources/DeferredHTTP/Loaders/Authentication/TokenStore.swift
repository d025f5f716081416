internal import DeferredCore
internal import DeferredTask

/// The token shared by the copies of a ``BearerAuthentication``.
final class TokenStore: Sendable {
    private let waiting: WaitingTasks<TokenStateMachine, @Sendable (BearerToken) -> Void>
    private let refresh: @Sendable (Refusal) -> Task<BearerToken>
    private let clock: any Clock<Duration>
    private let isExpired: @Sendable (BearerToken) -> Bool
    /// Returns the token of an earlier process, whether it is worth sending or not.
    private let stored: (@Sendable () -> Task<BearerToken?>)?

    /// The reason for a refresh.
    struct Refusal: Sendable {
        /// The token that was refused; nil if none was sent.
        var token: String?

        /// The response that refused it; nil if the token has expired, or none was sent.
        var response: HTTPResponse?
    }

    /// The time that a reset waits for a refresh to end.
    static let grace = Duration.seconds(5)

    init(
        _ token: String?,
        clock: any Clock<Duration> = ContinuousClock(),
        isExpired: @escaping @Sendable (BearerToken) -> Bool = { _ in false },
        stored: (@Sendable () -> Task<BearerToken?>)? = nil,
        refresh: @escaping @Sendable (Refusal) -> Task<BearerToken>
    ) {
        waiting = WaitingTasks(TokenStateMachine(token))
        self.clock = clock
        self.isExpired = isExpired
        self.stored = stored
        self.refresh = refresh
    }

    /// The token, unless it has expired.
    var valid: BearerToken? {
        let token = waiting.withMachine { $0.current }
        return token.flatMap { isExpired($0) ? nil : $0 }
    }

    /// Calls `goOn` with a token that has not expired, now or when there is one.
    func get(for task: HTTPTask, goOn: @escaping @Sendable (BearerToken) -> Void) {
        let token = waiting.withMachine { $0.current }
        if let token, !isExpired(token) { return goOn(token) }
        get(for: task, refused: token, goOn: goOn)
    }

    /// Calls `goOn` with the newest token that there is, good or not, without fetching one.
    func getNewest(for task: HTTPTask, goOn: @escaping @Sendable (BearerToken?) -> Void) {
        if let token = waiting.withMachine({ $0.newest }) { return goOn(token) }
        guard let stored, !task.failIfCancelled() else { return goOn(nil) }
        let registration = task.addCancellationHandler { [weak task] in task?.fail(.cancelled) }
        stored().upon(.immediate) { result in
            registration.cancel()
            task.execution.later { goOn(try? result.get()) }
        }
    }

    /// Has the next request fetch a token, for there is a newer one.
    func forget() { waiting.withMachine { _ = $0.reset() } }

    /// Calls `goOn` with a token other than `refused`, as soon as there is one, unless the task is cancelled before.
    ///
    /// - Parameter response: The response that refused it; nil if it has expired.
    func get(
        for task: HTTPTask,
        refused: BearerToken?,
        by response: HTTPResponse? = nil,
        goOn: @escaping @Sendable (BearerToken) -> Void
    ) {
        if task.failIfCancelled() { return }
        var action = TokenStateMachine.Action.wait
        _ = waiting.enter(task, goOn) { machine, ticket in
            action = machine.wanted(ticket, refused: refused)
            if case .use = action { return true } else { return false }
        }
        switch action {
        case .use(let token): goOn(token)
        case .wait: break
        case .refresh(let new): task.execution.later { begin(new, Refusal(token: refused?.value, response: response)) }
        }
    }

    /// Forgets the token, and stops the refresh under way.
    ///
    /// - Returns: A future that is filled when that has ended; now if it is the refresh that resets the chain.
    func reset() -> Future<Void> {
        TokenRefresh.current?.excuse()
        guard let stopped = waiting.withMachine({ $0.reset() }) else { return Future(value: ()) }
        stopped.stop()
        if stopped.ended.isFilled { return stopped.ended }
        let timer = ClockTimer(after: Self.grace, clock: clock) {
            self.end(stopped, Refusal(response: stopped.response), with: .failure(CancellationError()))
        }
        stopped.ended.upon(.immediate) { timer.cancel() }
        return stopped.ended
    }

    private func begin(_ new: TokenRefresh, _ refusal: Refusal) {
        if new.isStopped { return end(new, refusal, with: .failure(CancellationError())) }
        let task = TokenRefresh.$current.withValue(new) { refresh(refusal) }
        new.begin(task, for: refusal.response)
        task.upon(.immediate) { result in self.end(new, refusal, with: result) }
    }

    private func end(_ ended: TokenRefresh, _ refusal: Refusal, with result: Task<BearerToken>.Result) {
        var another: TokenRefresh?
        let waiters = waiting.all { machine in
            switch machine.refreshed(try? result.get(), by: ended) {
            case .nothing:
                return []
            case .serve(let tickets):
                return tickets
            case .refresh(let new):
                another = new
                return []
            }
        }
        ended.finish()
        for waiter in waiters {
            switch result {
            case .success(let token): waiter.task.execution.later { waiter.context(token) }
            case .failure(let error): waiter.task.fail(.authenticationFailed, underlying: error)
            }
        }
        // The token is forgotten, but what the server asks for is still the same.
        if let another { begin(another, Refusal(response: refusal.response)) }
    }
}
