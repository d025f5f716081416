internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request from its first task to its result, with as many tasks as its redirects and challenges require.
///
/// This is the storage over ``TransferStateMachine``: it takes the lock, feeds the event, releases the lock, and
/// performs the actions. Actions wait in an outbox that one thread at a time empties, so that the sink receives them
/// one by one and in the order in which they were decided, whichever threads the events come from.
///
/// A running transfer is retained by its engine; it needs no owner, and releasing it doesn't cancel it.
package final class Transfer: Sendable {
    private struct State {
        var machine: TransferStateMachine
        var outbox: [TransferStateMachine.Action] = []
        var isEmptyingOutbox = false
        var task: (any EngineTask)?
        var challenge: URLAuthenticationChallenge?

        /// The answer to a redirect, for which the platform's task waits.
        var redirectAnswer: RedirectAnswer?
        var sink: (any TransferSink)?
        var sinkError: (any Error)?
        var lease: EngineLease?
        var decider: (any TransferDecider)?
        var configure: EngineTaskConfiguration?
    }

    private let state: Lock<State>

    /// Begins a transfer and returns at once.
    ///
    /// - Parameters:
    ///   - lease: a lease of the engine that runs the transfer, released when the engine has nothing left of it.
    ///   - redirectLimit: the maximum number of redirects to follow.
    ///   - decider: decides about redirects and challenges.
    ///   - configure: applied to each platform task before it is resumed.
    @discardableResult
    package init(
        _ request: CheckedRequest,
        on lease: EngineLease,
        redirectLimit: Int = RedirectRules.hopLimit,
        decider: (any TransferDecider)? = nil,
        configure: EngineTaskConfiguration? = nil,
        sink: any TransferSink
    ) {
        state = Lock(
            State(
                machine: TransferStateMachine(request: request, redirectLimit: redirectLimit),
                sink: sink,
                lease: lease,
                decider: decider,
                configure: configure
            )
        )
        sink.begin(self)
        handle { $0.start() }
    }

    /// Ends the transfer with `URLError.cancelled` and the failing URL, unless it has ended. Doesn't block.
    package func cancel() {
        handle { $0.cancel() }
    }

    /// Ends the transfer with `error`, unless it has ended.
    package func abort(with error: any Error) {
        handle { $0.abort(with: error) }
    }

    /// Pauses or resumes reading the response, if the engine supports it: see ``EngineTask/hold(while:)``.
    package func hold(while isHeld: @escaping @Sendable () -> Bool) {
        state.withLock { $0.task }?.hold(while: isHeld)
    }

    // MARK: Events

    /// Handles an event that the engine reports about one of the transfer's tasks.
    package func receive(_ event: EngineEvent, of task: Int) {
        switch event {
        case .made(let made):
            // The previous task's captures are released outside of the lock.
            let old = state.withLock { state in
                defer { state.task = made }
                return state.task
            }
            withExtendedLifetime(old) {}
            handle { $0.created(task: task) }
        case .head(let head):
            handle { $0.received(head, task: task) }
        case .redirect(let head, nil):
            handle { $0.redirected(by: head, task: task) }
        case .redirect(let head, let answer?):
            let isCurrent = state.withLock { state in
                guard state.task?.identifier == task, state.redirectAnswer == nil else { return false }
                state.redirectAnswer = answer
                return true
            }
            guard isCurrent else { return answer(nil) }
            handle { $0.redirected(by: head, task: task, isHeld: true) }
        case .challenge(let challenge, nil):
            state.withLock { $0.challenge = challenge }
            handle { $0.challenged(task: task) }
        case .challenge(let challenge, let answer?):
            let (decider, task) = state.withLock { ($0.decider, $0.task) }
            guard let decider, let task else { return answer(.performDefaultHandling, nil) }
            decider.decide(challenge: challenge, of: task) { disposition, credential in
                self.meet(challenge, disposition, credential, answer)
            }
        case .waiting:
            state.withLock { $0.decider }?.waitsForConnectivity()
        case .bodyBegan(let answer):
            handle { $0.bodyBegan(task: task) }
            answer?(nextStream())
        case .bytes(let bytes):
            handle { $0.received(bytes, task: task) }
        case .sent(let count, let total):
            handle { $0.sent(count, expected: total, task: task) }
        case .needsBody:
            handle { $0.bodyStreamWanted(task: task) }
        case .measured(let metrics):
            state.withLock { $0.decider }?.measured(metrics)
        case .ended(let head, let error):
            handle { $0.completed(task: task, response: head, error: error) }
        case .invalidated:
            handle { $0.invalidated() }
        }
    }

    /// Feeds one event to the machine, and performs the actions that it returns.
    private func handle(_ event: (inout TransferStateMachine) -> [TransferStateMachine.Action]) {
        let mustEmptyOutbox = state.withLock { state in
            state.outbox += event(&state.machine)
            guard !state.outbox.isEmpty, !state.isEmptyingOutbox else { return false }
            state.isEmptyingOutbox = true
            return true
        }
        guard mustEmptyOutbox else { return }
        while let actions = nextActions() {
            actions.forEach(perform)
        }
    }

    private func nextActions() -> [TransferStateMachine.Action]? {
        state.withLock { state in
            guard !state.outbox.isEmpty else {
                state.isEmptyingOutbox = false
                return nil
            }
            defer { state.outbox = [] }
            return state.outbox
        }
    }

    // MARK: Actions

    /// Called without a lock, by the one thread that empties the outbox.
    private func perform(_ action: TransferStateMachine.Action) {
        switch action {
        case .createTask(let request):
            let (lease, configure) = state.withLock { ($0.lease, $0.configure) }
            lease?.engine.makeTask(for: request, of: self, configure: configure)
        case .resumeTask(let task):
            let decider = state.withLock { $0.decider }
            decider?.willSend()
            current(task)?.resume()
        case .cancelTask(let task):
            current(task)?.cancel()
        case .answerRedirect(let request):
            let (answer, decider) = state.withLock { ($0.redirectAnswer.take(), $0.decider) }
            if request != nil { decider?.willSend() }
            answer?(request?.withStream)
        case .askAboutRedirect(let head, let proposal, let round):
            ask(about: head, proposal: proposal, round: round)
        case .askAboutChallenge(let failures, let round):
            askAboutChallenge(failures: failures, round: round)
        case .deliverHead(let head):
            deliver { try $0.receive(head: head) }
        case .deliverBytes(let bytes):
            deliver { try $0.receive(bytes: bytes) }
            state.withLock { $0.task }?.took(bytes.count)
        case .report(let progress):
            deliver { $0.report(progress) }
        case .finish(let result):
            let (sink, error, url) = state.withLock { ($0.sink.take(), $0.sinkError.take(), $0.machine.request.url) }
            let final = error.map { .failure($0) } ?? result
            sink?.finish(final.mapError { $0.naming(url) })
        case .release:
            release()
        }
    }

    private func current(_ identifier: Int) -> (any EngineTask)? {
        state.withLock { $0.task?.identifier == identifier ? $0.task : nil }
    }

    private func deliver(_ call: (any TransferSink) throws -> Void) {
        guard let sink = state.withLock({ $0.sinkError == nil ? $0.sink : nil }) else { return }
        do {
            try call(sink)
        } catch {
            // The machine may have finished already: a result that waits in the outbox must not turn this error into a
            // success.
            state.withLock { $0.sinkError = error }
            abort(with: error)
        }
    }

    private func ask(about head: ResponseHead, proposal: URLRequest, round: Int) {
        let (decider, task) = state.withLock { ($0.decider, $0.task) }
        guard let decider, let task else {
            return follow(proposal, round: round)
        }
        decider.decide(redirect: head, of: task, proposal: proposal) { self.follow($0, round: round) }
    }

    /// Answers a question about a redirect: nil takes it as the response.
    private func follow(_ request: URLRequest?, round: Int) {
        let lease = state.withLock { $0.lease }
        do throws(URLClientError) {
            if let url = request?.url { try lease?.engine.checkHost(of: url) }
            handle { $0.answered(request.map { .follow($0) } ?? .deliver, round: round) }
        } catch {
            handle { $0.answered(.fail(error.about(request?.url)), round: round) }
        }
    }

    private func askAboutChallenge(failures: Int, round: Int) {
        let (decider, task, challenge, url) = state.withLock {
            ($0.decider, $0.task, $0.challenge.take(), $0.machine.request.url)
        }
        guard let decider, let task, let challenge else {
            return handle { $0.answered(.deliver, round: round) }
        }
        let counted = ChallengeHandling.challenge(challenge, failures: failures)
        decider.decide(challenge: counted, of: task) { disposition, credential in
            self.handle { $0.answered(.init(disposition, credential, url: url), round: round) }
        }
    }

    /// Answers a challenge that the platform meets itself, unless the answer has failed before.
    private func meet(
        _ challenge: URLAuthenticationChallenge,
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?,
        _ answer: ChallengeAnswer
    ) {
        switch disposition {
        case .useCredential:
            if let user = credential?.user, let password = credential?.password,
                !state.withLock({ $0.machine.mayTry(user: user, password: password) })
            {
                return answer(.performDefaultHandling, nil)
            }
        case .cancelAuthenticationChallenge:
            // The platform's own error would be that of a task which was cancelled.
            let url = state.withLock { $0.machine.request.url }
            abort(with: URLError(ChallengeHandling.refusalCode(of: challenge), failing: url))
        case .performDefaultHandling, .rejectProtectionSpace:
            break
        @unknown default:
            break
        }
        answer(disposition, credential)
    }

    /// Returns the body's stream from its first byte, if the stream can be made again.
    private func nextStream() -> InputStream? {
        let request = state.withLock { $0.machine.request }
        guard case .stream(let makeStream) = request.body else { return nil }
        let stream = makeStream()
        guard let error = BodyStreams.error(before: stream, of: request.url) else { return stream }
        abort(with: error)
        return nil
    }

    /// True if the response may be kept in a cache.
    var isCacheable: Bool { state.withLock { $0.machine.request.isCacheable } }

    private func release() {
        // The decider's captures, among them the user's session, are released before the lease, and all outside of the
        // lock.
        var held = state.withLock { state in
            let (task, challenge, answer) = (state.task.take(), state.challenge.take(), state.redirectAnswer.take())
            return Optional((task, challenge, answer, state.decider.take(), state.configure.take()))
        }
        withExtendedLifetime(held) {}
        held = nil
        let lease = state.withLock { $0.lease.take() }
        withExtendedLifetime(lease) {}
    }
}

extension TransferStateMachine.Answer {
    /// Converts an answer from the platform's types.
    fileprivate init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, url: URL) {
        switch disposition {
        case .useCredential:
            if let user = credential?.user, let password = credential?.password {
                self = .authenticate(user: user, password: password)
            } else {
                self = .deliver
            }
        case .cancelAuthenticationChallenge:
            self = .fail(URLError(.userCancelledAuthentication, failing: url))
        case .performDefaultHandling, .rejectProtectionSpace:
            self = .deliver
        @unknown default:
            self = .deliver
        }
    }
}
