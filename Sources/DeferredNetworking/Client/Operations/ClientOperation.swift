internal import DeferredCore
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Drives one ``OperationStateMachine``: takes the lock, feeds the event, lets go of the lock, performs the actions.
final class ClientOperation<Value: Sendable>: ClientWork {
    typealias Machine = OperationStateMachine<Value>

    private struct State {
        var machine: Machine

        /// Given up with the result: a stream's would otherwise never be known to be dropped.
        var promise: Task<Value>.Promise?
        var running: (round: Int, stop: @Sendable (any Error) -> Void)?
        var deadline: ClockTimer?
    }

    let identifier: UInt64
    let core: ClientCore
    let journal: OperationJournal
    private let request: TransferRequest
    private let state: Lock<State>
    private let makeAttempt: @Sendable (Attempt<Value>) -> AttemptHandle

    var url: URL? { request.url }

    init(
        _ identifier: UInt64,
        _ request: TransferRequest,
        on core: ClientCore,
        promise: Task<Value>.Promise,
        makeAttempt: @escaping @Sendable (Attempt<Value>) -> AttemptHandle
    ) {
        let configuration = core.configuration
        self.identifier = identifier
        self.request = request
        self.core = core
        self.makeAttempt = makeAttempt
        journal = OperationJournal(identifier, request.request, monitor: configuration.monitor)
        state = Lock(
            State(
                machine: Machine(
                    request,
                    retries: configuration.retries,
                    authentication: configuration.authentication
                ),
                promise: promise
            )
        )
    }

    /// Takes its place in the client's queue, or fails at once when it can't be sent.
    func begin() {
        journal.note(.created)
        if case .failure(let error) = RequestCheck.normalised(request) {
            return abort(with: error)
        }
        if let total = core.configuration.deadlines.total {
            let deadline = ClockTimer(after: total, clock: ContinuousClock()) { [weak self] in
                self?.abort(with: URLClientError.deadlineExceeded)
            }
            state.withLock { $0.deadline = deadline }
        }
        core.arrived(self, host: request.url?.host(percentEncoded: true) ?? "")
    }

    func cancel() {
        abort(with: URLError(.cancelled, failing: url))
    }

    func admitted() {
        handle { $0.admitted() }
    }

    func abort(with error: any Error) {
        handle { $0.abort(with: error) }
    }

    func delivered(_ value: Value, round: Int) {
        handle { $0.delivered(value, round: round) }
    }

    func attemptEnded(_ attempted: Machine.Attempted, round: Int) {
        handle { $0.attemptEnded(attempted, round: round, now: Date()) }
    }

    func isFinal(_ head: HTTPURLResponse) -> Bool {
        state.withLock { $0.machine.isFinal(head, now: Date()) }
    }

    private func handle(_ event: (inout Machine) -> [Machine.Action]) {
        state.withLock { event(&$0.machine) }.forEach(perform)
    }

    private func perform(_ action: Machine.Action) {
        switch action {
        case .startAttempt(let request, let round):
            startAttempt(request, round: round)
        case .ask(let challenge, let round):
            ask(challenge, round: round)
        case .pause(let duration, let attempt, let round):
            journal.note(.retried(attempt: attempt, after: duration))
            pause(duration, round: round)
        case .stop(let error):
            state.withLock { $0.running.take() }?.stop(error)
        case .deliver(let value):
            state.withLock { $0.promise.take() }?.succeed(with: value)
        case .finish(let result):
            conclude(result.error)
            state.withLock { $0.promise.take() }?.fill(with: result)
        case .streamed(let error):
            conclude(error)
        case .leave:
            // Let go outside of the lock.
            _ = state.withLock { $0.running.take() }
            core.left(identifier)
        }
    }

    private func startAttempt(_ request: TransferRequest, round: Int) {
        guard let lease = core.lease() else { return abort(with: URLClientError.shutDown) }
        let attempt = Attempt(request, lease: lease, of: self, round: round)
        let handle = makeAttempt(attempt)
        remember(handle.abort, round: round)
    }

    private func ask(_ challenge: URLClient.Authentication.Challenge, round: Int) {
        journal.note(.challenged(challenge.response))
        guard let answer = core.configuration.authentication.answer else {
            return handle { $0.answered(.success(nil), round: round) }
        }
        let task = answer(challenge)
        remember({ _ in task.cancel() }, round: round)
        task.upon(.immediate) { result in self.handle { $0.answered(result, round: round) } }
    }

    private func pause(_ duration: Duration, round: Int) {
        let timer = ClockTimer(after: duration, clock: core.configuration.retries.clock) {
            self.handle { $0.pauseEnded(round: round) }
        }
        remember({ _ in timer.cancel() }, round: round)
    }

    /// Keeps what stops the work of this round, or stops it, when the operation has gone on or ended meanwhile.
    private func remember(_ stop: @escaping @Sendable (any Error) -> Void, round: Int) {
        var replaced: (round: Int, stop: @Sendable (any Error) -> Void)?
        let isOver = state.withLock { state in
            if case .ended = state.machine.state { return true }
            guard state.machine.round == round else { return false }
            // Let go outside of the lock.
            swap(&replaced, &state.running)
            state.running = (round, stop)
            return false
        }
        // It has ended by itself, or was aborted while it began.
        if isOver {
            stop(URLError(.cancelled, failing: url))
        }
    }

    private func conclude(_ error: (any Error)?) {
        state.withLock { $0.deadline.take() }?.cancel()
        journal.note(.finished(error))
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
