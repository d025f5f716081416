internal import DeferredCore
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request from its admission to its end, with as many attempts as the policies want, and as many tasks as its
/// redirects and challenges require.
///
/// This is the storage over ``ExchangeStateMachine``: it takes the lock, feeds the event, releases the lock, and
/// performs what was decided. Steps of the whole request are performed at once. Actions of the attempt wait in an outbox
/// that one thread at a time empties, so that the receiver gets them one by one and in the order in which they were
/// decided, whichever threads the events come from.
///
/// A running exchange is retained by its engine; it needs no owner, and releasing it doesn't cancel it.
package final class Exchange: Sendable {
    typealias Machine = ExchangeStateMachine

    /// Makes the caller's value, calls `conclude` with the error if there is none, and ends the caller's task.
    typealias Completion =
        @Sendable (_ result: Result<ReceivedResponse, any Error>, _ conclude: ((any Error)?) -> Void) -> Void

    struct State {
        var machine: Machine

        /// The actions that were decided while a thread performs what was decided before.
        var outbox: [Machine.Action] = []

        /// Nil while a thread performs actions, and has it.
        var attempt: AttemptState?

        var parts: Parts
        var lease: EngineLease?

        /// Released with the result: its task would otherwise retain a stream's body, whose release cancels the exchange.
        var completion: Completion?

        /// Ends the question for a credential, or the pause.
        var stop: (@Sendable () -> Void)?

        /// The deadline of the whole request.
        var timer: ClockTimer?
        var challenge: URLAuthenticationChallenge?

        /// The answer to a redirect, for which the platform's task waits.
        var redirectAnswer: RedirectAnswer?

        /// Returns the actions, unless another thread performs them.
        mutating func batch(_ actions: [Machine.Action]) -> Batch? {
            guard attempt != nil else {
                outbox += actions
                return nil
            }
            return actions.isEmpty ? nil : attempt.take().map { Batch(actions: actions[...], attempt: $0) }
        }

        /// Gives a batch the actions that were decided meanwhile. If there are none, ends the performing, and returns false.
        mutating func refill(_ batch: inout Batch) -> Bool {
            guard !outbox.isEmpty else {
                attempt = batch.attempt
                return false
            }
            batch.actions = outbox[...]
            outbox = []
            return true
        }
    }

    /// The objects that actions are performed on.
    struct Parts {
        var task: (any EngineTask)?
        var delegate: (any ExchangeDelegate)?

        /// Those of the attempt; nil if the engine's settings have none.
        var deadlines: ExchangeDeadlines?
    }

    /// The part that only the thread that performs actions touches.
    struct AttemptState {
        var receiver: any ResponseReceiver

        /// The error that the receiver threw: it gets nothing but the end then, and no result that was decided before can
        /// turn that into a success.
        var error: (any Error)?

        /// The body of a response that the receiver has refused.
        var refused: RefusedBody?
    }

    /// Actions that were decided in one step, to be performed without the lock.
    struct Batch {
        var actions: ArraySlice<Machine.Action>
        var attempt: AttemptState
    }

    /// The settings of an exchange, besides its request and its receiver.
    struct Settings: Sendable {
        /// The number of the request in its transport.
        var identifier: UInt64 = 0

        /// Nil for a request that nobody admits.
        var transport: Transport?
        var policies = RequestPolicies.none
        var redirects = URLClient.RedirectPolicy.follow()

        /// Kept instead of the platform's; nil for those of the engine's settings.
        var deadlines: URLClient.Deadlines?
        var clock: any Clock<Duration> = ContinuousClock()

        /// The time limit of the whole request.
        var total: Duration?
        var events: EventReporter?

        /// Applied to each platform task before it is resumed.
        var configure: EngineTaskConfiguration?
    }

    let settings: Settings

    /// For the caller's closures, if there are any: about challenges, redirects and retries.
    let locals: TaskLocals?
    let state: Lock<State>

    var parts: Parts { state.withLock { $0.parts } }

    /// The URL of the caller's request.
    let url: URL

    /// True if somebody receives ``EngineEvent/measured(_:)``, so that an engine need not measure in vain.
    let isMeasured: Bool

    /// True if the response should have a connection for itself: see ``ResponseReceiver/wantsOwnConnection``.
    let wantsOwnConnection: Bool

    var identifier: UInt64 { settings.identifier }
    var events: EventReporter? { settings.events }

    init(
        _ request: CheckedRequest,
        _ settings: Settings,
        delegate: (any ExchangeDelegate)? = nil,
        to receiver: any ResponseReceiver,
        completion: @escaping Completion
    ) {
        self.settings = settings
        url = request.url
        locals = settings.redirects.isCustom || settings.policies.hasClosures ? TaskLocals(ofRunningCode: ()) : nil
        wantsOwnConnection = receiver.wantsOwnConnection
        let delegate = delegate ?? settings.events
        isMeasured = delegate?.isMeasured ?? false
        state = Lock(
            State(
                machine: Machine(request, settings.policies, redirectLimit: settings.redirects.limit),
                attempt: AttemptState(receiver: receiver),
                parts: Parts(delegate: delegate),
                completion: completion
            )
        )
    }

    /// Begins a request that nobody admits, on an engine.
    static func begin(
        _ request: CheckedRequest,
        on lease: EngineLease,
        _ settings: Settings = Settings(),
        delegate: (any ExchangeDelegate)? = nil,
        to receiver: any ResponseReceiver,
        completion: @escaping Completion
    ) -> Exchange {
        let exchange = Exchange(request, settings, delegate: delegate, to: receiver, completion: completion)
        exchange.begin()
        exchange.admitted(lease)
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
        react { $0.begin() }
    }

    /// Ends the exchange with `URLError.cancelled` and the failing URL, unless it has ended. Doesn't block.
    package func cancel() {
        cancel(with: URLError(.cancelled, failing: url))
    }

    /// Ends the exchange with `error`, unless it has ended.
    package func cancel(with error: any Error) {
        react(to: error) { $0.cancel(with: error) }
    }

    /// Ends the attempt with `error`, unless it has ended.
    package func abort(with error: any Error) {
        handle(error) { $0.machine.abort(with: error) }
    }

    /// Begins, or begins again after a pause.
    ///
    /// - Parameter lease: For all tasks; nil if the engine is gone.
    func admitted(_ lease: EngineLease?) {
        guard let lease else { return cancel(with: URLClientError.shutDown) }
        state.withLock { if $0.lease == nil, !$0.machine.hasEnded { $0.lease = lease } }
        react { $0.admitted() }
    }

    // MARK: For the receiver

    /// Returns true if the policies accept the status.
    func accepts(_ head: ResponseHead) -> Bool {
        !head.isHTTP || settings.policies.validation.accepts(head.status)
    }

    /// Returns true if no other attempt would follow a response with this head.
    func isFinal(_ head: ResponseHead) -> Bool {
        let (isChallenge, question) = state.withLock { state in
            (state.machine.isChallenge(head), state.machine.question(after: head, or: nil))
        }
        guard !isChallenge, let question else { return !isChallenge }
        return locals.restore { question.pause(now: Date()) } == nil
    }

    /// Pauses or resumes reading the response, if the engine supports it: see ``EngineTask/hold(while:)``.
    package func hold(while isHeld: @escaping @Sendable () -> Bool) {
        parts.task?.hold(while: isHeld)
    }

    /// Suspends the idle deadline while `isForgiven` returns true: then the reader causes the silence.
    func forgiveSilence(while isForgiven: @escaping @Sendable () -> Bool) {
        parts.deadlines?.forgiveSilence(while: isForgiven)
    }

    // MARK: For the engine

    /// The time since the last byte on the connection: see ``EngineTask/silence``.
    var silence: Duration? { parts.task?.silence }

    /// Calls a closure once what has come by now was read: see ``EngineTask/afterReading(_:)``.
    func afterReading(_ body: @escaping @Sendable () -> Void) {
        guard let task = parts.task else { return body() }
        task.afterReading(body)
    }

    /// True if the response may be kept in a cache.
    var isCacheable: Bool { state.withLock { $0.machine.request.isCacheable } }

    // MARK: Steps

    /// Feeds one event of the whole request to the machine, and performs what it decides.
    func react(to error: (any Error)? = nil, _ event: (inout Machine) -> Machine.Reaction) {
        let (steps, batch, end, task) = state.withLock { state in
            let task = state.lateTask(error)
            let reaction = event(&state.machine)
            let end = state.machine.hasEnded && !reaction.steps.isEmpty ? state.takeEnd() : nil
            return (reaction.steps, state.batch(reaction.actions), end, task)
        }
        task?.expire()
        if let batch { perform(batch) }
        for step in steps { perform(step, end) }
    }

    private func perform(_ step: Machine.Step, _ end: End?) {
        switch step {
        case .arrive:
            settings.transport?.arrived(self, host: url.host(percentEncoded: true) ?? "")
        case .stepAside:
            settings.transport?.steppedAside(identifier)
        case .comeBack:
            settings.transport?.cameBack(identifier)
        case .ask(let challenge, let round):
            ask(challenge, round: round)
        case .pause(let duration, let attempt, let round, let error):
            events?.report(.retried(attempt: attempt, after: duration), failure: error?.naming(url))
            pause(duration, round: round)
        case .stop:
            end?.stop?()
        case .deliver(let response):
            state.withLock { $0.completion.take() }?(.success(response)) { _ in }
        case .finish(let result):
            end?.completion?(result.mapError { $0.naming(url) }) { conclude($0, end?.timer) }
        case .finishStream(let error):
            conclude(error?.naming(url), end?.timer)
        case .leave:
            settings.transport?.left(identifier)
        }
    }

    private func ask(_ challenge: URLClient.Authentication.Challenge, round: Int) {
        events?.report(.challenged(challenge.response))
        guard let answer = settings.policies.authentication.answer else {
            return react { $0.answered(.success(nil), round: round) }
        }
        let task = locals.restore { answer(challenge) }
        let registration = task.upon(.immediate) { result in self.react { $0.answered(result, round: round) } }
        // The caller's task may go on for ever, and must not keep the exchange.
        remember(round) {
            registration.cancel()
            task.cancel()
        }
    }

    private func pause(_ duration: Duration, round: Int) {
        let timer = ClockTimer(after: duration, clock: settings.policies.retries.policy.clock) {
            self.react { $0.pauseEnded(round: round) }
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

    private func conclude(_ error: (any Error)?, _ timer: ClockTimer?) {
        timer?.cancel()
        events?.report(.finished(error))
    }

    /// The parts that an exchange that has ended no longer needs, for use and release outside of the lock.
    struct End {
        var completion: Completion?
        var timer: ClockTimer?
        var stop: (@Sendable () -> Void)?
    }
}

extension Exchange.State {
    /// Returns the task that a deadline ends with this error. It is told before anybody can begin another attempt, which
    /// must not get the same connection, and after the machine, which is not to take its end for another one.
    func lateTask(_ error: (any Error)?) -> (any EngineTask)? {
        error?.isLate == true && machine.isAttempting ? parts.task : nil
    }

    fileprivate mutating func takeEnd() -> Exchange.End {
        defer { (completion, timer, stop) = (nil, nil, nil) }
        return Exchange.End(completion: completion, timer: timer, stop: stop)
    }
}

extension Error {
    /// True for the errors of deadlines.
    fileprivate var isLate: Bool {
        if case .deadlineExceeded = (self as? URLClientError)?.code { return true }
        return (self as? URLError)?.code == .timedOut
    }
}
