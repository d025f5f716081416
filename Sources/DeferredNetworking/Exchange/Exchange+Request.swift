internal import DeferredCore
internal import DeferredTask
import Foundation

/// The whole request: its turn, its pauses, the question for a credential, and its end.
extension Exchange {
    /// Begins a request that nobody admits, on an engine.
    static func begin(
        _ request: CheckedRequest,
        on retained: RetainedEngine,
        _ settings: Settings = Settings(),
        delegate: (any ExchangeDelegate)? = nil,
        to receiver: any ResponseReceiver,
        completion: @escaping Completion.Body
    ) -> Exchange {
        let completion = Completion(body: completion)
        let exchange = Exchange(request, settings, delegate: delegate, to: Attempt(receiver), completion: completion)
        exchange.begin()
        exchange.admitted(retained)
        return exchange
    }

    /// Asks for the request's turn, unless the deadline expires first.
    func begin() {
        if let total = settings.total {
            let timer = ClockTimer(after: total, clock: settings.clock) { [weak self] in
                self?.cancel(with: URLClientError.deadlineExceeded)
            }
            state.withLock { $0.timer = timer }
        }
        handle { $0.machine.begin() }
    }

    /// Ends the exchange with `URLError.cancelled` and the failing URL, unless it has ended. Doesn't block.
    package func cancel() {
        cancel(with: URLError(.cancelled, failing: url))
    }

    /// Ends the exchange with `error`, unless it has ended.
    package func cancel(with error: any Error) {
        handle(error) { $0.machine.cancel(with: error) }
    }

    /// Ends the attempt with `error`. Called by the thread that performs its actions.
    func abort(with error: any Error) {
        handle { $0.machine.abort(with: error) }
    }

    /// Ends the attempt of a task with `error`, unless it has ended: another one may run by now.
    func abort(with error: any Error, of task: Int) {
        handle { if $0.machine.isCurrent(task) { $0.machine.abort(with: error) } }
    }

    /// Begins, or begins again after a pause.
    ///
    /// - Parameter retained: The engine for all tasks.
    func admitted(_ retained: RetainedEngine) {
        state.withLock { if $0.retained == nil, !$0.machine.hasEnded { $0.retained = retained } }
        handle { $0.machine.admitted() }
    }

    /// Feeds an event to the machine, and performs what it decides.
    ///
    /// - Parameter error: The error that the event ends the attempt or the request with, if it is one that may.
    func handle(_ error: (any Error)? = nil, _ event: (inout State) -> Void) {
        var attempt: Attempt?
        let (step, lateTask) = state.withLock { state in
            let count = state.machine.actions.count
            event(&state)
            // A task that a deadline ends is told so before anybody can begin another attempt, which must not get the
            // same connection, and after the machine, which is not to take its end for another one.
            let isLate = state.machine.actions.count > count && error?.isLate == true
            let lateTask = isLate ? state.parts.task : nil
            state.take(&attempt)
            return (state.machine.step.take(), lateTask)
        }
        lateTask?.expire()
        if attempt != nil { perform(&attempt) }
        if let step { perform(step) }
    }

    private func perform(_ step: Machine.Step) {
        switch step {
        case .arrive:
            settings.transport?.arrived(self)
        case .comeBack:
            settings.transport?.cameBack(identifier)
        case .ask(let challenge, let round):
            ask(challenge, round: round)
        case .pause(let duration, let attempt, let round, let error):
            if settings.policies.retries.yieldsPlace { settings.transport?.steppedAside(identifier) }
            events?.report(.retried(attempt: attempt, after: duration), failure: error?.naming(url))
            pause(duration, round: round)
        case .deliver(let response):
            state.withLock { $0.completion.take() }?.body(.success(response)) { _ in }
        case .finish(let result):
            state.withLock { $0.completion.take() }?.body(result.mapError { $0.naming(url) }) { conclude($0) }
            settings.transport?.left(identifier)
        case .finishStream(let error):
            conclude(error?.naming(url))
            settings.transport?.left(identifier)
        case .leave:
            settings.transport?.left(identifier)
        }
    }

    private func ask(_ challenge: URLClient.Authentication.Challenge, round: Int) {
        events?.report(.challenged(challenge.response))
        guard let answer = settings.policies.authentication.answer else {
            return handle { $0.machine.answered(.success(nil), round: round) }
        }
        let task = locals.restore { answer(challenge) }
        let registration = task.upon(.immediate) { result in self.handle { $0.machine.answered(result, round: round) } }
        // The caller's task may go on for ever, and must not keep the exchange.
        remember(round) {
            registration.cancel()
            task.cancel()
        }
    }

    private func pause(_ duration: Duration, round: Int) {
        let timer = ClockTimer(after: duration, clock: settings.policies.retries.policy.clock) {
            self.handle { $0.machine.pauseEnded(round: round) }
        }
        remember(round) { timer.cancel() }
    }

    /// Keeps the closure that ends the question or the pause of this round, or calls it if the exchange has ended meanwhile.
    private func remember(_ round: Int, _ stop: @escaping @Sendable () -> Void) {
        let (isOver, old) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            if state.machine.hasEnded { return (true, nil) }
            guard state.machine.round == round else { return (false, nil) }
            defer { state.stop = stop }
            return (false, state.stop)
        }
        withExtendedLifetime(old) {}
        if isOver { stop() }
    }

    /// Reports the end. What has ended before doesn't mind being stopped.
    private func conclude(_ error: (any Error)?) {
        let (timer, stop) = state.withLock { ($0.timer.take(), $0.stop.take()) }
        timer?.cancel()
        stop?()
        events?.report(.finished(error))
    }
}

extension Exchange: AttemptDeadlines.Owner {
    var silence: Duration? { task?.silence }

    var currentURL: URL { state.withLock { $0.machine.request.url } }

    func afterReading(_ body: @escaping @Sendable () -> Void) {
        if let task { task.afterReading(body) } else { body() }
    }

    /// Ends the attempt, unless it has ended.
    func abort(with error: any Error, by deadlines: AttemptDeadlines) {
        handle(error) { if $0.parts.deadlines === deadlines { $0.machine.abort(with: error) } }
    }
}

extension Error {
    /// True for the errors of deadlines.
    fileprivate var isLate: Bool {
        if case .deadlineExceeded = (self as? URLClientError)?.code { return true }
        return (self as? URLError)?.code == .timedOut
    }
}
