internal import DeferredCore
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Drives one ``ClientRequestStateMachine``: takes the lock, feeds the event, releases the lock, performs the actions.
final class ClientRequest: Sendable {
    typealias Machine = ClientRequestStateMachine<ReceivedResponse>

    /// Begins an attempt, and returns a closure that ends it from outside.
    typealias Start = @Sendable (Attempt) -> @Sendable (any Error) -> Void

    /// The caller's side of a request.
    struct End: Sendable {
        /// Makes the caller's value, calls `conclude` with the error if there is none, and ends the caller's task.
        let fill: @Sendable (_ result: Result<ReceivedResponse, any Error>, _ conclude: ((any Error)?) -> Void) -> Void
    }

    private struct State {
        var machine: Machine

        /// Released with the result: its task would otherwise retain a stream's body, whose release cancels the transfer.
        var end: End?
        var stop: (@Sendable (any Error) -> Void)?
        var deadline: ClockTimer?
    }

    /// The parts that an ended request no longer needs, for release outside of the lock: they keep a lease.
    private struct Parts {
        var end: End?
        var deadline: ClockTimer?
        var stop: (@Sendable (any Error) -> Void)?
    }

    let identifier: UInt64
    let transport: Transport
    let policies: RequestPolicies
    let options: URLClient.RequestOptions
    let events: EventReporter?
    /// For the caller's closures, if there are any: about challenges, redirects and retries.
    let locals: TaskLocals?
    private let request: CheckedRequest
    private let state: Lock<State>
    private let start: Start

    var url: URL { request.url }

    /// Those of an attempt. The one of the whole request is kept here.
    var deadlines: URLClient.Deadlines {
        var deadlines = transport.configuration.deadlines
        deadlines.idle = options.idle ?? deadlines.idle
        return deadlines
    }

    init(
        _ identifier: UInt64,
        _ request: CheckedRequest,
        on transport: Transport,
        options: URLClient.RequestOptions,
        policies: RequestPolicies,
        events: EventReporter?,
        end: End,
        start: @escaping Start
    ) {
        self.identifier = identifier
        self.request = request
        self.transport = transport
        self.options = options
        self.policies = policies
        self.events = events
        self.start = start
        let redirects = options.redirects ?? transport.configuration.redirects
        locals = redirects.isCustom || policies.hasClosures ? TaskLocals(ofRunningCode: ()) : nil
        state = Lock(
            State(
                machine: Machine(request, policies),
                end: end
            )
        )
    }

    /// Joins the client's queue, unless the deadline expires first.
    func begin() {
        if let total = options.total ?? transport.totalDeadline {
            let deadline = ClockTimer(after: total, clock: transport.configuration.deadlineClock) { [weak self] in
                self?.abort(with: URLClientError.deadlineExceeded)
            }
            state.withLock { $0.deadline = deadline }
        }
        handle { $0.begin() }
    }

    func cancel() {
        abort(with: URLError(.cancelled, failing: url))
    }

    /// Begins, or begins again after a pause.
    ///
    /// - Parameter lease: For the next attempt; nil if the engine is gone.
    func admitted(_ lease: EngineLease?) {
        handle(lease) { $0.admitted() }
    }

    func abort(with error: any Error) {
        handle { $0.abort(with: error) }
    }

    func delivered(_ response: ReceivedResponse, round: Int) {
        handle { $0.delivered(response, round: round) }
    }

    func attemptEnded(_ outcome: Machine.Outcome, round: Int) {
        let machine = state.withLock { $0.machine }
        let pause = locals.restore { machine.pause(after: outcome, now: Date()) }
        handle { $0.attemptEnded(outcome, round: round, pause: pause) }
    }

    func streamEnded(_ error: (any Error)?, round: Int) {
        handle { $0.streamEnded(error, round: round) }
    }

    func isFinal(_ head: ResponseHead) -> Bool {
        let machine = state.withLock { $0.machine }
        return locals.restore { machine.isFinal(head, now: Date()) }
    }

    private func handle(_ lease: EngineLease? = nil, _ event: (inout Machine) -> [Machine.Action]) {
        let (actions, parts) = state.withLock { state in
            let actions = event(&state.machine)
            guard !actions.isEmpty, case .ended = state.machine.state else { return (actions, Parts()) }
            defer { (state.end, state.deadline, state.stop) = (nil, nil, nil) }
            return (actions, Parts(end: state.end, deadline: state.deadline, stop: state.stop))
        }
        for action in actions { perform(action, parts, lease) }
    }

    private func perform(_ action: Machine.Action, _ parts: Parts, _ lease: EngineLease?) {
        switch action {
        case .arrive:
            transport.arrived(self, host: url.host(percentEncoded: true) ?? "")
        case .startAttempt(let request, let round):
            startAttempt(request, round: round, lease ?? transport.lease())
        case .ask(let challenge, let round):
            ask(challenge, round: round)
        case .pause(let duration, let attempt, let round, let error):
            events?.report(.retried(attempt: attempt, after: duration), failure: error?.naming(url))
            pause(duration, round: round)
        case .stepAside:
            transport.steppedAside(identifier)
        case .comeBack:
            transport.cameBack(identifier)
        case .stop(let error):
            parts.stop?(error)
        case .deliver(let response):
            state.withLock { $0.end.take() }?.fill(.success(response)) { _ in }
        case .finish(let result):
            parts.end?.fill(result.mapError { $0.naming(url) }) { conclude($0, parts.deadline) }
        case .streamed(let error):
            conclude(error?.naming(url), parts.deadline)
        case .leave:
            transport.left(identifier)
        }
    }

    private func startAttempt(_ request: CheckedRequest, round: Int, _ lease: EngineLease?) {
        guard let lease else { return abort(with: URLClientError.shutDown) }
        let attempt = Attempt(request, lease: lease, of: self, round: round)
        if let error = attempt.deadlines.passed { return attempt.end(with: .failure(error)) }
        remember(start(attempt), round: round)
    }

    private func ask(_ challenge: URLClient.Authentication.Challenge, round: Int) {
        events?.report(.challenged(challenge.response))
        guard let answer = policies.authentication.answer else {
            return handle { $0.answered(.success(nil), round: round) }
        }
        let task = locals.restore { answer(challenge) }
        let registration = task.upon(.immediate) { result in self.handle { $0.answered(result, round: round) } }
        // The caller's task may go on for ever, and must not keep the request.
        remember(
            { _ in
                registration.cancel()
                task.cancel()
            },
            round: round
        )
    }

    private func pause(_ duration: Duration, round: Int) {
        let timer = ClockTimer(after: duration, clock: policies.retries.policy.clock) {
            self.handle { $0.pauseEnded(round: round) }
        }
        remember({ _ in timer.cancel() }, round: round)
    }

    /// Keeps the closure that stops the work of this round, or calls it if the request has ended meanwhile.
    private func remember(_ stop: @escaping @Sendable (any Error) -> Void, round: Int) {
        let (isOver, old) = state.withLock { state -> (Bool, (@Sendable (any Error) -> Void)?) in
            if case .ended = state.machine.state { return (true, nil) }
            guard state.machine.round == round else { return (false, nil) }
            defer { state.stop = stop }
            return (false, state.stop)
        }
        withExtendedLifetime(old) {}
        // The request has ended by itself, or was aborted while this round began.
        if isOver {
            stop(URLError(.cancelled, failing: url))
        }
    }

    private func conclude(_ error: (any Error)?, _ deadline: ClockTimer?) {
        deadline?.cancel()
        events?.report(.finished(error))
    }
}

/// A response as a request receives it, before it becomes a value of the caller's type.
///
/// Nothing of a request depends on that type but ``ClientRequest/End``: generic code that is compiled in another module
/// than its argument looks up the metadata of its types at each step.
enum ReceivedResponse: Sendable {
    case data(Data, ResponseHead)

    /// The head, and the body that follows.
    case stream(HTTPBodyStream, ResponseHead)

    /// The body is in a file.
    case file(ResponseHead)
}

/// Decides about the attempts of a request: its credentials, the statuses that are accepted, and the next attempt.
///
/// An object, since nearly all requests of a client share one, and several parts of each keep it.
package final class RequestPolicies: Sendable {
    let retries: URLClient.Retries
    let authentication: URLClient.Authentication
    let validation: URLClient.StatusValidation

    init(
        retries: URLClient.Retries = .none,
        authentication: URLClient.Authentication = .none,
        validation: URLClient.StatusValidation = .any
    ) {
        (self.retries, self.authentication, self.validation) = (retries, authentication, validation)
    }

    /// True if the caller's closures may be asked about challenges or retries.
    var hasClosures: Bool { authentication.answer != nil || retries.attempts > 1 && retries.policy.hasOwnClosures }

    /// One attempt, without a credential, that succeeds with any status.
    package static let none = RequestPolicies()
}
