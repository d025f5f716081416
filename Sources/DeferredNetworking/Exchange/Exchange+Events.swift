internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The events that the engine reports about the tasks of an exchange.
extension Exchange {
    /// - Parameter task: The number that ``Engine/makeTask(for:of:as:)`` was given.
    package func receive(_ event: EngineEvent, of task: Int) {
        switch event {
        case .head(let head):
            receive(head, nil, of: task)
        case .redirect(let head, nil):
            handle { state in
                state.store(head, of: task)
                state.machine.redirected(by: head, task: task)
            }
        case .redirect(let head, let answer?):
            var isHeld = false
            handle { state in
                guard state.machine.isCurrent(task), state.redirectAnswer == nil else { return }
                isHeld = true
                state.redirectAnswer = answer
                state.store(head, of: task)
                state.machine.redirected(by: head, task: task, isHeld: true)
            }
            if !isHeld { answer(nil) }
        case .challenge(let challenge, nil):
            handle { state in
                if state.machine.isCurrent(task) { state.challenge = challenge }
                state.machine.challenged(task: task)
            }
        case .challenge(let challenge, let answer?):
            let parts = parts
            guard let delegate = parts.delegate, let engineTask = parts.task else {
                return answer(.performDefaultHandling, nil)
            }
            delegate.decide(challenge: challenge, of: engineTask) { disposition, credential in
                self.meet(challenge, disposition, credential, of: task, answer)
            }
        case .activity, .waiting:
            let (isCurrent, parts) = state.withLock { ($0.machine.isCurrent(task), $0.parts) }
            // Another attempt may run by now.
            guard isCurrent else { return }
            if case .waiting = event {
                parts.deadlines?.noteWaiting()
            } else {
                parts.deadlines?.noteActivity()
            }
            parts.delegate?.note(event)
        case .bodyBegan(let answer):
            state.withLock { $0.machine.bodyBegan(task: task) }
            answer?(nextStream(of: task))
        case .bytes(let bytes):
            receive(nil, bytes, of: task)
        case .sent(let count, let total):
            handle { $0.machine.sent(count, expected: total, task: task) }
        case .needsBody:
            handle { $0.machine.bodyStreamWanted(task: task) }
        case .answered(let head):
            handle { $0.machine.answered(head, task: task) }
        case .measured:
            parts.delegate?.note(event)
        case .ended(let head, let error):
            receive(nil, nil, end: (head, error), of: task)
        }
    }

    /// Handles what an engine has received by now, in one step: ``EngineEvent/head(_:)``, ``EngineEvent/bytes(_:)`` and
    /// ``EngineEvent/ended(_:error:)``, in this order, each if there is one.
    func receive(
        _ head: ResponseHead?,
        _ bytes: Data?,
        end: (head: ResponseHead?, error: (any Error)?)? = nil,
        of task: Int
    ) {
        handle { state in
            if let head {
                state.store(head, of: task)
                state.machine.received(head, task: task)
            }
            if let bytes { state.machine.received(bytes, task: task) }
            if let end { state.machine.completed(task: task, head: end.head, error: end.error) }
        }
    }

    /// Answers a challenge that the platform meets itself, unless the answer has failed before.
    private func meet(
        _ challenge: URLAuthenticationChallenge,
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?,
        of task: Int,
        _ answer: ChallengeAnswer
    ) {
        if disposition == .useCredential, let user = credential?.user, let password = credential?.password,
            !state.withLock({ $0.machine.mayTry(user: user, password: password) })
        {
            return answer(.performDefaultHandling, nil)
        }
        if disposition == .cancelAuthenticationChallenge {
            // The platform's own error would be that of a task which was cancelled.
            let url = state.withLock { $0.machine.request.url }
            abort(with: URLError(ChallengeHandling.refusalCode(of: challenge), failing: url), of: task)
        }
        answer(disposition, credential)
    }

    /// Returns the body's stream from its first byte, if the stream can be made again.
    private func nextStream(of task: Int) -> InputStream? {
        let request = state.withLock { $0.machine.request }
        guard case .stream(let makeStream, _) = request.body else { return nil }
        let stream = makeStream()
        guard let error = BodyStreams.error(before: stream, of: request.url) else { return stream }
        abort(with: error, of: task)
        return nil
    }
}

extension Exchange.State {
    /// The cookies to send and to store, unless the request wants none or the platform handles them.
    var cookies: CookieJar? {
        retained?.engine.cookies.flatMap { machine.request.request.httpShouldHandleCookies ? $0 : nil }
    }

    /// Has the cookies of a response stored, before it has any consequence.
    fileprivate mutating func store(_ head: ResponseHead, of task: Int) {
        guard cookies != nil, head.value(of: "Set-Cookie") != nil, machine.isCurrent(task) else { return }
        machine.actions.append(.storeCookies(head))
    }
}
