internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What was decided about the current attempt, performed without a lock by the one thread that empties the outbox.
extension Exchange {
    /// Performs the actions of a batch, from the action at this index on, and of those that are decided meanwhile.
    func perform(_ batch: consuming Batch, from start: Int = 0) {
        var (batch, start) = (batch, start)
        while true {
            for index in batch.actions[start...].indices {
                if case .storeCookies(let head) = batch.actions[index] {
                    return store(head, andPerform: batch, from: index + 1)
                }
                perform(batch.actions[index], &batch.attempt)
            }
            start = 0
            guard let next = state.withLock({ [batch] in $0.nextBatch(after: batch) }) else { return }
            batch = next
        }
    }

    /// Goes on elsewhere once the cookies of a response are stored: Foundation writes a file for each that is to last, and
    /// the engine's thread serves others, too.
    private func store(_ head: ResponseHead, andPerform batch: Batch, from start: Int) {
        let (cookies, document) = state.withLock { ($0.cookies, $0.machine.request.request.mainDocumentURL) }
        guard let cookies else { return perform(batch, from: start) }
        cookies.store(head, mainDocument: document) { self.perform(batch, from: start) }
    }

    private func perform(_ action: Machine.Action, _ attempt: inout AttemptState) {
        switch action {
        case .storeCookies:
            preconditionFailure("cookies are stored before the next action, not as one of them")
        case .prepare(let request, let isNewAttempt):
            prepare(request, isNewAttempt, &attempt)
        case .startTask(let request, let number):
            start(request, number)
        case .cancelTask:
            state.withLock { $0.task }?.cancel()
        case .answerRedirect(let request):
            let (answer, delegate) = state.withLock { ($0.redirectAnswer.take(), $0.delegate) }
            if request != nil { delegate?.willSend() }
            answer?(request?.withStream)
        case .askAboutRedirect(let head, let proposal, let round):
            ask(about: head, proposal: proposal, round: round)
        case .askAboutChallenge(let failures, let round):
            askAboutChallenge(failures: failures, round: round)
        case .deliverHead(let head, let expected):
            deliver(head, expected: expected, &attempt)
        case .deliverBytes(let bytes, let count, let expected):
            deliver(bytes, .received(count, of: expected), &attempt)
        case .reportSent(let count, let expected):
            let (delegate, deadlines) = observers
            deadlines?.noteActivity()
            guard attempt.error == nil else { return }
            delegate?.sent(count)
            attempt.receiver.report(.sent(count, of: expected))
        case .endAttempt(let result):
            end(result, &attempt)
        case .release:
            // The delegate's captures, among them the user's session, before the lease.
            let (lease, released) = state.withLock { state in
                let released = (state.delegate.take(), state.task.take(), state.challenge.take())
                return (state.lease.take(), released)
            }
            withExtendedLifetime(released) {}
            withExtendedLifetime(lease) {}
        }
    }

    private var observers: ((any ExchangeDelegate)?, ExchangeDeadlines?) {
        state.withLock { ($0.delegate, $0.deadlines) }
    }

    // MARK: Beginning

    private func prepare(_ request: CheckedRequest, _ isNewAttempt: Bool, _ attempt: inout AttemptState) {
        if isNewAttempt, let error = beginDeadlines(request) { return abort(with: error) }
        do {
            let request = try attempt.receiver.begin(request, of: self)
            handle { $0.machine.prepared(request) }
        } catch {
            abort(with: error)
        }
    }

    /// - Returns: the error of a deadline that expires at once.
    private func beginDeadlines(_ request: CheckedRequest) -> (any Error)? {
        let idle = state.withLock { $0.lease }?.engine.idleTimeout
        guard let limits = settings.deadlines ?? idle.map({ .init(idle: $0) }) else { return nil }
        let deadlines = ExchangeDeadlines(limits, request, clock: settings.clock)
        if let error = deadlines.passed { return error }
        state.withLock { $0.deadlines = deadlines }
        deadlines.begin(self)
        return nil
    }

    private func start(_ request: CheckedRequest, _ number: Int) {
        let (lease, cookies, delegate) = state.withLock { ($0.lease, $0.cookies, $0.delegate) }
        guard let engine = lease?.engine else { return }
        var request = cookies?.adding(to: request) ?? request
        if settings.deadlines != nil, engine.hasTimeouts { request = request.withoutPlatformTimeout() }
        var task = Optional(engine.makeTask(for: request, of: self, as: number, configure: settings.configure))
        let made = task
        // The previous task's captures are released outside of the lock.
        let isCurrent = state.withLock { state in
            swap(&state.task, &task)
            return state.machine.isCurrent(number)
        }
        // One that was cancelled meanwhile is told so next.
        guard isCurrent else { return }
        delegate?.willSend()
        made?.resume()
    }

    // MARK: The response

    private func deliver(_ head: ResponseHead, expected: Int64?, _ attempt: inout AttemptState) {
        let (delegate, deadlines) = observers
        deadlines?.noteHead()
        guard attempt.error == nil else { return }
        delegate?.received(head: head)
        do {
            attempt.refused = nil
            switch try attempt.receiver.receive(head: head, of: self) {
            case .take: break
            case .deliver(let body): react { $0.delivered(.stream(body, head)) }
            case .refuse:
                attempt.refused = RefusedBody(of: head)
                return
            }
            attempt.receiver.report(.received(0, of: expected))
        } catch {
            fail(with: error, &attempt)
        }
    }

    private func deliver(_ bytes: Data, _ progress: BodyProgress, _ attempt: inout AttemptState) {
        let (delegate, deadlines) = observers
        deadlines?.noteActivity()
        if attempt.error == nil {
            delegate?.received(bytes.count)
            do {
                if attempt.refused != nil {
                    try attempt.refused?.append(bytes)
                } else {
                    try attempt.receiver.receive(bytes: bytes)
                    attempt.receiver.report(progress)
                }
            } catch {
                fail(with: error, &attempt)
            }
        }
        state.withLock { $0.task }?.took(bytes.count)
    }

    private func fail(with error: any Error, _ attempt: inout AttemptState) {
        attempt.error = error
        abort(with: error)
    }

    // MARK: The end

    private func end(_ result: Result<ResponseHead, any Error>, _ attempt: inout AttemptState) {
        let (deadlines, url) = state.withLock { ($0.deadlines, $0.machine.request.url) }
        var final = attempt.error.take().map { .failure($0) } ?? result
        if let refused = attempt.refused.take() { final = .failure(refused.error(at: final)) }
        switch attempt.receiver.finish(final.mapError { $0.naming(url) }) {
        case .result(let result):
            deadlines?.end()
            judge(result)
        case .startOver:
            handle { $0.machine.startOver() }
            guard state.withLock({ $0.machine.hasEnded }) else { return }
            deadlines?.end()
            _ = attempt.receiver.finish(.failure(URLError(.cancelled, failing: url)))
        }
    }

    private func judge(_ result: Result<ReceivedResponse, any Error>) {
        let machine = state.withLock { $0.machine }
        let outcome = machine.outcome(result)
        let pause = locals.restore { machine.pause(after: outcome, now: Date()) }
        react { $0.judged(outcome, pause: pause) }
    }

    // MARK: Questions

    private func ask(about head: ResponseHead, proposal: URLRequest, round: Int) {
        let (delegate, task) = state.withLock { ($0.delegate, $0.task) }
        observers.1?.noteActivity()
        let decide = settings.redirects.decide
        let proposal = locals.restore { decide(head, proposal) }
        if let target = proposal?.url { events?.report(.redirected(head, to: target)) }
        guard let proposal, let delegate, let task else { return follow(proposal, round: round) }
        delegate.decide(redirect: head, of: task, proposal: proposal) { self.follow($0, round: round) }
    }

    /// Answers a question about a redirect: nil takes it as the response.
    private func follow(_ request: URLRequest?, round: Int) {
        let lease = state.withLock { $0.lease }
        do throws(URLClientError) {
            if let url = request?.url { try lease?.engine.checkHost(of: url) }
            handle { $0.machine.answered(request.map { .follow($0) } ?? .deliver, round: round) }
        } catch {
            handle { $0.machine.answered(.fail(error.about(request?.url)), round: round) }
        }
    }

    private func askAboutChallenge(failures: Int, round: Int) {
        let (challenge, url, delegate, task) = state.withLock { state in
            (state.challenge.take(), state.machine.request.url, state.delegate, state.task)
        }
        guard let delegate, let task, let challenge else {
            return handle { $0.machine.answered(.deliver, round: round) }
        }
        let counted = ChallengeHandling.challenge(challenge, failures: failures)
        delegate.decide(challenge: counted, of: task) { disposition, credential in
            self.handle { $0.machine.answered(.init(disposition, credential, url: url), round: round) }
        }
    }
}

extension ExchangeStateMachine.Answer {
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
