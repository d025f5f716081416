internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The actions of the current attempt, performed without a lock by the one thread that empties the queue of them.
extension Exchange {
    /// Performs the actions of an attempt, and those that are decided meanwhile.
    func perform(_ attempt: inout Attempt?) {
        while let action = state.withLock({ $0.next(&attempt) }) {
            if case .storeCookies(let head) = action { return store(head, andPerform: &attempt) }
            perform(action, &attempt!)
        }
    }

    /// Goes on elsewhere once the cookies of a response are stored: Foundation writes a file for each that is to last, and
    /// the engine's thread serves others, too.
    private func store(_ head: ResponseHead, andPerform rest: inout Attempt?) {
        let (cookies, document) = state.withLock { ($0.cookies, $0.machine.request.request.mainDocumentURL) }
        guard let cookies else { return perform(&rest) }
        let attempt = rest.take()
        cookies.store(head, mainDocument: document) {
            var rest = attempt
            self.perform(&rest)
        }
    }

    private func perform(_ action: Machine.Action, _ attempt: inout Attempt) {
        switch action {
        case .storeCookies:
            preconditionFailure("cookies are stored before the next action, not as one of them")
        case .reportChallenge(let head):
            events?.report(.challenged(head))
        case .prepare(let request, let isNewAttempt):
            prepare(request, isNewAttempt, &attempt)
        case .startTask(let request, let number):
            start(request, number)
        case .cancelTask:
            parts.task?.cancel()
        case .answerRedirect(let request):
            let answer = state.withLock { $0.redirectAnswer.take() }
            if request != nil { parts.delegate?.willSend() }
            answer?(request?.withStream)
        case .askAboutRedirect(let head, let proposal, let round):
            ask(about: head, proposal: proposal, round: round)
        case .askAboutChallenge(let failures, let round):
            askAboutChallenge(failures: failures, round: round)
        case .deliverInterim(let head):
            deliver(interim: head, &attempt)
        case .deliverHead(let head, let expected):
            deliver(head, expected: expected, &attempt)
        case .deliverBytes(let bytes, let count, let expected):
            deliver(bytes, .received(count, of: expected), &attempt)
        case .reportSent(let count, let step, let expected):
            let parts = parts
            parts.deadlines?.noteActivity()
            guard attempt.error == nil else { return }
            parts.delegate?.note(.sent(step, of: expected))
            attempt.receiver.report(.sent(count, of: expected))
        case .deliverEnd(let head):
            if attempt.error == nil, attempt.refused == nil { attempt.receiver.receive(end: head) }
        case .endAttempt(let result):
            end(result, &attempt)
        case .release:
            // The delegate's captures, among them the user's session, before the engine.
            let (retained, released) = state.withLock { state in
                defer { state.parts = Parts() }
                return (state.retained.take(), (state.parts, state.challenge.take(), state.redirectAnswer.take()))
            }
            withExtendedLifetime(released) {}
            withExtendedLifetime(retained) {}
        }
    }

    // MARK: Beginning

    private func prepare(_ request: CheckedRequest, _ isNewAttempt: Bool, _ attempt: inout Attempt) {
        do {
            if isNewAttempt { try beginDeadlines(request) }
            let request = try attempt.receiver.begin(request, of: self)
            if let next = try state.withLock({ try $0.machine.prepared(request) }) { start(next.request, next.task) }
        } catch {
            abort(with: error)
        }
    }

    /// - Throws: the error of a deadline that expires at once.
    private func beginDeadlines(_ request: CheckedRequest) throws {
        let engine = retained?.engine
        guard let limits = settings.deadlines ?? engine?.idleTimeout.map({ .init(idle: $0) }) else { return }
        let deadlines = AttemptDeadlines(
            limits,
            request,
            idle: settings.idle,
            margin: engine?.deadlineMargin ?? .zero,
            clock: settings.clock
        )
        if let error = deadlines.passed { throw error }
        state.withLock { $0.parts.deadlines = deadlines }
        deadlines.begin(for: self)
    }

    private func start(_ request: CheckedRequest, _ number: Int) {
        let (retained, cookies) = state.withLock { ($0.retained, $0.cookies) }
        guard let engine = retained?.engine else { return }
        var request = cookies?.adding(to: request) ?? request
        if settings.deadlines != nil, engine.hasTimeouts { request = request.withoutPlatformTimeout() }
        let task: any EngineTask
        if case .streamed(let body, let locals) = request.body, body.mustBeSpooled || !engine.streamsMessages {
            task = SpoolingTask(request, body, locals, of: self, as: number, on: engine)
        } else {
            task = engine.makeTask(for: request, of: self, as: number)
        }
        // The previous task is released outside of the lock.
        let (isCurrent, _) = state.withLock { state in
            defer { state.parts.task = task }
            return (state.machine.isCurrent(number), state.parts.task)
        }
        // One that was cancelled meanwhile is told so next.
        guard isCurrent else { return }
        parts.delegate?.willSend()
        task.resume()
    }

    // MARK: The response

    private func deliver(interim head: ResponseHead, _ attempt: inout Attempt) {
        let parts = parts
        parts.deadlines?.noteActivity()
        guard attempt.error == nil else { return }
        parts.delegate?.note(.activity)
        attempt.receiver.receive(interim: head)
        if let onInterim = settings.onInterimResponse { locals.restore { onInterim(head) } }
    }

    private func deliver(_ head: ResponseHead, expected: Int64?, _ attempt: inout Attempt) {
        let parts = parts
        parts.deadlines?.noteHead()
        guard attempt.error == nil else { return }
        parts.delegate?.note(.head(head))
        do {
            // A session delivers other responses, too.
            if settings.transport != nil { _ = try head.requiringHTTP() }
            attempt.refused = nil
            switch try attempt.receiver.receive(head: head, of: self) {
            case .take: break
            case .deliver(let body): handle { $0.machine.delivered(.stream(body, head)) }
            case .refuse:
                attempt.refused = RefusedBody(of: head)
                return
            }
            attempt.receiver.report(.received(0, of: expected))
        } catch {
            fail(with: error, &attempt)
        }
    }

    private func deliver(_ bytes: Data, _ progress: BodyProgress, _ attempt: inout Attempt) {
        let parts = parts
        parts.deadlines?.noteActivity()
        if attempt.error == nil {
            parts.delegate?.note(.bytes(bytes))
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
        parts.task?.took(bytes.count)
    }

    private func fail(with error: any Error, _ attempt: inout Attempt) {
        attempt.error = error
        abort(with: error)
    }

    // MARK: The end

    private func end(_ result: Result<ResponseHead, any Error>, _ attempt: inout Attempt) {
        var final = attempt.error.take().map { .failure($0) } ?? result
        if let refused = attempt.refused.take() { final = .failure(refused.error(at: final)) }
        let (url, cancellation) = state.withLock { ($0.machine.request.url, $0.machine.finishes()) }
        // One that was cancelled after the last byte, and before this, leaves no file either.
        if let cancellation, case .success = final { final = .failure(cancellation) }
        switch attempt.receiver.finish(final.mapError { $0.naming(url) }) {
        case .result(let outcome):
            endDeadlines()
            let isResumable = attempt.receiver.isResumable
            let question = state.withLock { $0.machine.question(after: outcome, isResumable: isResumable) }
            let pause = question.flatMap { question in locals.restore { question(Date()) } }
            handle { $0.machine.judged(outcome, pause: pause) }
        case .delivered(let error):
            endDeadlines()
            handle { $0.machine.streamEnded(error) }
        case .startOver:
            handle { $0.machine.startOver() }
            guard hasEnded else { return }
            endDeadlines()
            _ = attempt.receiver.finish(.failure(URLError(.cancelled, failing: url)))
        }
    }

    /// Before another attempt can begin: a deadline that expires at this moment is not to end that one.
    private func endDeadlines() {
        state.withLock { $0.parts.deadlines.take() }?.end()
    }

    // MARK: Questions

    private func ask(about head: ResponseHead, proposal: URLRequest, round: Int) {
        let parts = parts
        parts.deadlines?.noteActivity()
        let decide = settings.redirects.decide
        let proposal = locals.restore { decide(head, proposal) }
        if let target = proposal?.url { events?.report(.redirected(head, to: target)) }
        guard let proposal, let delegate = parts.delegate, let task = parts.task else {
            return follow(proposal, round: round)
        }
        delegate.decide(redirect: head, of: task, proposal: proposal) { self.follow($0, round: round) }
    }

    /// Answers a question about a redirect: nil takes it as the response.
    private func follow(_ request: URLRequest?, round: Int) {
        do throws(URLClientError) {
            if let url = request?.url { try retained?.engine.check(url) }
            handle { $0.machine.answered(request.map { .follow($0) } ?? .deliver, round: round) }
        } catch {
            handle { $0.machine.answered(.fail(error.about(request?.url)), round: round) }
        }
    }

    private func askAboutChallenge(failures: Int, round: Int) {
        let (challenge, url, parts) = state.withLock { ($0.challenge.take(), $0.machine.request.url, $0.parts) }
        guard let delegate = parts.delegate, let task = parts.task, let challenge else {
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
        if disposition == .useCredential, let user = credential?.user, let password = credential?.password {
            self = .authenticate(user: user, password: password)
        } else if disposition == .cancelAuthenticationChallenge {
            self = .fail(URLError(.userCancelledAuthentication, failing: url))
        } else {
            self = .deliver
        }
    }
}
