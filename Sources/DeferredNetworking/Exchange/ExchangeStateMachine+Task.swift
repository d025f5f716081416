internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The events of an attempt: of its task, its redirects and challenges.
extension ExchangeStateMachine {
    /// Handles the head of a response. The last of several counts, and its body replaces earlier ones. Interim heads that
    /// come before it are delivered, but not endlessly many.
    mutating func received(_ head: ResponseHead, task: Int) {
        guard case .running(var run) = state, run.task == task else { return }
        if head.status.isInterim {
            guard run.head == nil, run.interimCount < Run.mostInterim else { return }
            run.interimCount += 1
            state = .running(run)
            return actions.append(.deliverInterim(head))
        }
        do throws(URLError) {
            run.expected = try ResponseFraming.check(
                head,
                of: request,
                acceptsAnyPart: policies.acceptsAnyPart
            )
        } catch {
            return abort(with: error)
        }
        run.head = head
        run.received = 0
        state = .running(run)
        if head.isHTTP { lastHead = head }
        actions.append(.deliverHead(head, expected: run.expected))
    }

    mutating func received(_ bytes: Data, task: Int) {
        guard case .running(var run) = state, run.task == task, run.head != nil else { return }
        run.received += Int64(bytes.count)
        if let expected = run.expected, run.received > expected {
            let description = "The body is longer than its announced length of \(expected) bytes"
            return abort(with: URLError(.badServerResponse, failing: request.url, description: description))
        }
        state = .running(run)
        actions.append(.deliverBytes(bytes, run.received, of: run.expected))
    }

    /// Handles the end of a response that comes before that of the request's body.
    mutating func answered(_ head: ResponseHead, task: Int) {
        guard case .running(let run) = state, run.task == task, run.head != nil,
            run.expected.map({ $0 == run.received }) ?? true
        else { return }
        actions.append(.deliverEnd(head))
    }

    /// - Parameter expected: the length of the whole body, if known.
    mutating func sent(_ bytes: Int64, expected: Int64?, task: Int) {
        guard case .running(var run) = state, run.task == task else { return }
        // The platform's own total repeats and jumps; the sum of its steps is right, but for steps that it repeats.
        let before = run.sent
        run.sent = min(before + bytes, expected ?? .max)
        state = .running(run)
        actions.append(.reportSent(run.sent, step: run.sent - before, of: expected))
    }

    /// Notes that the body is sent from its first byte.
    mutating func bodyBegan(task: Int) {
        guard case .running(var run) = state, run.task == task else { return }
        run.sent = 0
        state = .running(run)
    }

    /// - Parameter isHeld: whether the task waits for an answer, instead of having to be cancelled.
    mutating func redirected(by head: ResponseHead, task: Int, isHeld: Bool = false) {
        guard isHeld else { return stop(for: .redirect(head), task: task) }
        guard case .running(let run) = state, run.task == task else { return actions.append(.answerRedirect(nil)) }
        consider(head, holding: run)
    }

    mutating func challenged(task: Int) {
        stop(for: .challenge, task: task)
    }

    /// Handles the platform's request to send a body again that it has already read: it lost a kept-alive connection.
    mutating func bodyStreamWanted(task: Int) {
        stop(for: .rewind, task: task)
    }

    /// Handles the end of a task.
    ///
    /// - Parameter head: the task's response, with its trailers. On Linux, that of a redirect without a usable target is
    ///   never delivered otherwise.
    mutating func completed(task: Int, head: ResponseHead?, error: (any Error)?) {
        tasks -= 1
        switch state {
        case .deciding(_, let run?) where run.task == task:
            judge(result(of: run, trailers: head?.trailers, error: error))
        case .running(let run) where run.task == task:
            if error == nil, run.head == nil, let head, head.status.isRedirection { return deliver(head) }
            judge(result(of: run, trailers: head?.trailers, error: error))
        case .stopping(let run, let stop) where run.task == task:
            // An engine that is gone sends no next request.
            if let error = error as? URLClientError, case .shutDown = error.code { return fail(with: error) }
            stopped(run, for: stop)
        case .ended where tasks == 0:
            actions.append(.release)
        case .queued, .preparing, .running, .stopping, .deciding, .judging, .finishing, .asking, .pausing, .ended:
            break
        }
    }

    private mutating func stop(for reason: Stop, task: Int) {
        guard case .running(let run) = state, run.task == task else { return }
        state = .stopping(run, reason)
        actions.append(.cancelTask(task))
    }

    private func result(
        of run: Run,
        trailers: HTTPHeaders?,
        error: (any Error)?
    ) -> Result<ResponseHead, any Error> {
        if let error {
            let context = ErrorMapping.Context(
                url: request.url,
                received: run.received,
                expected: run.expected,
                hasResponse: run.head != nil
            )
            return .failure(ErrorMapping.mapped(error, in: context))
        }
        guard let head = run.head else {
            return .failure(URLError(.badServerResponse, failing: request.url))
        }
        if let expected = run.expected, run.received < expected {
            return .failure(URLClientError.truncatedBody(received: run.received, expected: expected))
        }
        return .success(trailers.map(head.with(trailers:)) ?? head)
    }

    // MARK: Redirects and challenges

    /// Handles the end, with whatever error, of a task that this machine cancelled.
    private mutating func stopped(_ run: Run, for reason: Stop) {
        switch reason {
        case .redirect(let head):
            consider(head, holding: nil)
        case .challenge:
            round += 1
            state = .deciding(.challenge(run.head), holding: nil)
            actions.append(.askAboutChallenge(failures: credentials.count, round: round))
        case .rewind:
            judge(.failure(BodyStreams.exhausted(request.url)))
        }
    }

    /// Handles the answer to the question of this round. Late and repeated answers are ignored.
    mutating func answered(_ answer: Answer, round: Int) {
        guard round == self.round, case .deciding(let question, let run) = state else { return }
        switch question {
        case .redirect(let head, let proposal, let body):
            answeredRedirect(answer, head, proposal: proposal, body, holding: run)
        case .challenge(let head):
            answeredChallenge(answer, head: head)
        }
    }

    /// - Parameter run: that of the task which waits for the answer, or nil if no task runs.
    private mutating func consider(_ head: ResponseHead, holding run: Run?) {
        switch RedirectRules.verdict(
            on: head,
            to: request,
            after: chain,
            limit: redirectLimit,
            originBoundFields: originBoundFields
        ) {
        case .follow(let proposal, let body):
            round += 1
            state = .deciding(.redirect(head, proposal: proposal, body), holding: run)
            actions.append(.askAboutRedirect(head, proposal: proposal, round: round))
        case .deliver:
            deliver(head, holding: run)
        case .fail(let error):
            fail(with: error, holding: run)
        }
    }

    private mutating func answeredRedirect(
        _ answer: Answer,
        _ head: ResponseHead,
        proposal: URLRequest,
        _ body: CheckedRequest.Body,
        holding run: Run?
    ) {
        switch answer {
        case .follow(let next):
            do throws(URLClientError) {
                let checked = try reauthorized(checked(next, proposal: proposal, body))
                // Unless the caller has given it another one.
                if checked.hasOneShotBody, next.httpBodyStream === proposal.httpBodyStream {
                    return fail(with: URLError(.requestBodyStreamExhausted, failing: checked.url), holding: run)
                }
                chain.append(request.url)
                guard let run else { return actions.append(.startTask(checked, start(checked))) }
                request = checked
                state = .running(Run(task: run.task))
                actions.append(.answerRedirect(checked))
            } catch {
                fail(with: error.about(next.url), holding: run)
            }
        case .fail(let error):
            fail(with: error, holding: run)
        case .deliver, .authenticate:
            deliver(head, holding: run)
        }
    }

    /// Takes a redirect itself as the response. Its body is lost, unless its task waits for this: the task was
    /// cancelled, or the platform dropped the body.
    private mutating func deliver(_ head: ResponseHead, holding run: Run? = nil) {
        if let run {
            state = .running(run)
            return actions.append(.answerRedirect(nil))
        }
        if head.isHTTP { lastHead = head }
        actions.append(.deliverHead(head, expected: nil))
        judge(.success(head))
    }

    mutating func fail(with error: any Error, holding run: Run? = nil) {
        judge(.failure(error))
        guard let run else { return }
        actions.append(.cancelTask(run.task))
        actions.append(.answerRedirect(nil))
    }

    private mutating func answeredChallenge(_ answer: Answer, head: ResponseHead?) {
        if case .fail(let error) = answer { return judge(.failure(error)) }
        if case .authenticate(let user, let password) = answer {
            do throws(URLClientError) {
                let field = try BasicCredential.field(user: user, password: password)
                // The same credential would fail the same way: the result is the response that refuses it.
                if credentials.insert(field).inserted {
                    guard !request.hasOneShotBody else {
                        return judge(.failure(URLError(.requestBodyStreamExhausted, failing: request.url)))
                    }
                    let authorized = try request.authorized(by: field)
                    return actions.append(.startTask(authorized, start(authorized)))
                }
            } catch {
                return judge(.failure(error))
            }
        }
        // The response and its body were delivered before the challenge arrived.
        guard let head else {
            return judge(.failure(URLError(.userAuthenticationRequired, failing: request.url)))
        }
        judge(.success(head))
    }

    /// `request` may come from outside, so it is checked like the first one.
    private func checked(
        _ next: URLRequest,
        proposal: URLRequest,
        _ body: CheckedRequest.Body
    ) throws(URLClientError) -> CheckedRequest {
        var next = next
        RedirectRules.confine(&next, like: proposal, originBoundFields: originBoundFields)
        // Another method than the proposed one has another body.
        return try request.following(next, body: next.httpMethod == proposal.httpMethod ? body : .inRequest)
    }

    /// Returns a request after a redirect with an answer for its own URL, if it carries one for another URL.
    private mutating func reauthorized(_ request: CheckedRequest) throws(URLClientError) -> CheckedRequest {
        guard hasDigest, let field = request.value(of: "Authorization"),
            field == self.request.value(of: "Authorization"),
            Origin(of: request.url) == Origin(of: self.request.url)
        else { return request }
        return try authorized(request)
    }

    /// Notes a credential, and returns whether it was not tried before, where the platform answers challenges itself:
    /// the same credential would fail again.
    mutating func mayTry(user: String, password: String) -> Bool {
        credentials.insert(user + "\u{0}" + password).inserted
    }
}
