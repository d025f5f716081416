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
        var parts: Parts
        var sinkError: (any Error)?

        /// The body of a response that the sink has refused.
        var refused: RefusedBody?
        var challenge: URLAuthenticationChallenge?

        /// The answer to a redirect, for which the platform's task waits.
        var redirectAnswer: RedirectAnswer?

        /// Feeds an event to the machine. Returns the actions, unless another call performs them.
        mutating func feed(_ event: (inout State) -> [TransferStateMachine.Action]) -> Batch? {
            let actions = event(&self)
            guard !isEmptyingOutbox else {
                outbox += actions
                return nil
            }
            return actions.isEmpty ? nil : batch(actions)
        }

        /// Empties the outbox; returns nil, and ends the performing, if it is empty.
        mutating func nextBatch() -> Batch? {
            guard !outbox.isEmpty else {
                isEmptyingOutbox = false
                return nil
            }
            defer { outbox = [] }
            return batch(outbox)
        }

        /// Takes along what nobody else needs any more, for release outside of the lock.
        private mutating func batch(_ actions: [TransferStateMachine.Action]) -> Batch {
            var batch = Batch(actions: actions, parts: parts, sinkError: sinkError, isRefusing: refused != nil)
            // The last actions of a transfer: no event has any effect after them.
            batch.isLast = machine.isReleased
            isEmptyingOutbox = !batch.isLast
            if batch.isLast {
                parts = Parts()
                (batch.challenge, batch.redirectAnswer) = (challenge.take(), redirectAnswer.take())
            } else if machine.isFinished {
                parts.sink = nil
            }
            return batch
        }
    }

    /// The objects that actions are performed on.
    private struct Parts {
        var task: (any EngineTask)?
        var sink: (any TransferSink)?
        var lease: EngineLease?
        var decider: (any TransferDecider)?
        var configure: EngineTaskConfiguration?

        /// Returns the task, if it is the one with this identifier.
        func task(_ identifier: Int) -> (any EngineTask)? { task?.identifier == identifier ? task : nil }
    }

    /// Actions that were decided in one step, to be performed without the lock.
    private struct Batch {
        let actions: [TransferStateMachine.Action]
        var parts: Parts

        /// The error that the sink threw: the sink gets nothing but the end then.
        var sinkError: (any Error)?

        /// True if the sink has refused the current response: its body is kept in the state.
        var isRefusing = false
        var isLast = false
        var challenge: URLAuthenticationChallenge?
        var redirectAnswer: RedirectAnswer?
    }

    private let state: Lock<State>

    /// The cookies to send and to store, unless the request wants none or the platform handles them.
    private let cookies: CookieJar?
    private let mainDocument: URL?

    private let deadlines: TransferDeadlines?

    /// True if somebody receives ``EngineEvent/measured(_:)``, so that an engine need not measure in vain.
    let isMeasured: Bool

    /// True if the response should have a connection for itself: see ``TransferSink/wantsOwnConnection``.
    let wantsOwnConnection: Bool

    /// Begins a transfer and returns at once.
    ///
    /// - Parameters:
    ///   - lease: a lease of the engine that runs the transfer, released when the engine has nothing left of it.
    ///   - deadlines: kept instead of the platform's; nil for those of the engine's settings.
    ///   - redirectLimit: the maximum number of redirects to follow.
    ///   - decider: decides about redirects and challenges.
    ///   - configure: applied to each platform task before it is resumed.
    @discardableResult
    package init(
        _ request: CheckedRequest,
        on lease: EngineLease,
        deadlines: TransferDeadlines? = nil,
        redirectLimit: Int = RedirectRules.hopLimit,
        decider: (any TransferDecider)? = nil,
        configure: EngineTaskConfiguration? = nil,
        sink: any TransferSink
    ) {
        self.deadlines = deadlines ?? lease.engine.idleTimeout.map { TransferDeadlines(.init(idle: $0), request) }
        let request = deadlines != nil && lease.engine.hasTimeouts ? request.withoutPlatformTimeout() : request
        isMeasured = decider?.isMeasured ?? false
        cookies = request.request.httpShouldHandleCookies ? lease.engine.cookies : nil
        mainDocument = cookies == nil ? nil : request.request.mainDocumentURL
        wantsOwnConnection = sink.wantsOwnConnection
        var machine = TransferStateMachine(request: request, redirectLimit: redirectLimit)
        let actions = machine.start()
        let parts = Parts(sink: sink, lease: lease, decider: decider, configure: configure)
        // What others do meanwhile waits in the outbox.
        state = Lock(State(machine: machine, isEmptyingOutbox: true, parts: parts))
        self.deadlines?.begin(self)
        sink.begin(self)
        perform(Batch(actions: actions, parts: parts))
    }

    /// Ends the transfer with `URLError.cancelled` and the failing URL, unless it has ended. Doesn't block.
    package func cancel() {
        handle { $0.machine.cancel() }
    }

    /// Ends the transfer with `error`, unless it has ended.
    package func abort(with error: any Error) {
        let (task, batch) = state.withLock { state in (state.parts.task, state.feed { $0.machine.abort(with: error) }) }
        // Before anybody knows, and begins another attempt: that must not get the same connection.
        if error.isLate { task?.expire() }
        if let batch { perform(batch) }
    }

    /// Pauses or resumes reading the response, if the engine supports it: see ``EngineTask/hold(while:)``.
    package func hold(while isHeld: @escaping @Sendable () -> Bool) {
        state.withLock { $0.parts.task }?.hold(while: isHeld)
    }

    /// Suspends the idle deadline while `isForgiven` returns true: then the reader causes the silence.
    func forgiveSilence(while isForgiven: @escaping @Sendable () -> Bool) {
        deadlines?.forgiveSilence(while: isForgiven)
    }

    /// The time since the last byte on the connection: see ``EngineTask/silence``.
    var silence: Duration? { state.withLock { $0.parts.task }?.silence }

    /// Calls a closure once what has come by now was read: see ``EngineTask/afterReading(_:)``.
    func afterReading(_ body: @escaping @Sendable () -> Void) {
        guard let task = state.withLock({ $0.parts.task }) else { return body() }
        task.afterReading(body)
    }

    // MARK: Events

    /// Handles an event that the engine reports about one of the transfer's tasks.
    package func receive(_ event: EngineEvent, of task: Int) {
        switch event {
        case .made(let made):
            // The previous task's captures are released outside of the lock.
            var replaced: (any EngineTask)? = made
            handle { state in
                swap(&replaced, &state.parts.task)
                return state.machine.created(task: task)
            }
        case .head(let head):
            receive(head, nil, of: task)
        case .redirect(let head, nil):
            handle { storing(head, if: $0.parts.task(task) != nil) + $0.machine.redirected(by: head, task: task) }
        case .redirect(let head, let answer?):
            var isCurrent = false
            handle { state in
                guard state.parts.task(task) != nil, state.redirectAnswer == nil else { return [] }
                isCurrent = true
                state.redirectAnswer = answer
                return storing(head, if: true) + state.machine.redirected(by: head, task: task, isHeld: true)
            }
            if !isCurrent { answer(nil) }
        case .challenge(let challenge, nil):
            handle { state in
                state.challenge = challenge
                return state.machine.challenged(task: task)
            }
        case .challenge(let challenge, let answer?):
            let parts = state.withLock { $0.parts }
            guard let decider = parts.decider, let task = parts.task else {
                return answer(.performDefaultHandling, nil)
            }
            decider.decide(challenge: challenge, of: task) { disposition, credential in
                self.meet(challenge, disposition, credential, answer)
            }
        case .activity, .waiting:
            let (isFinished, decider) = state.withLock { ($0.machine.isFinished, $0.parts.decider) }
            // A second transfer may have the same deadlines by now.
            guard !isFinished else { return }
            if case .waiting = event {
                deadlines?.noteWaiting()
                decider?.waitsForConnectivity()
            } else {
                deadlines?.noteActivity()
                decider?.noteActivity()
            }
        case .bodyBegan(let answer):
            handle { $0.machine.bodyBegan(task: task) }
            answer?(nextStream())
        case .bytes(let bytes):
            receive(nil, bytes, of: task)
        case .sent(let count, let total):
            handle { $0.machine.sent(count, expected: total, task: task) }
        case .needsBody:
            handle { $0.machine.bodyStreamWanted(task: task) }
        case .measured(let metrics):
            state.withLock { $0.parts.decider }?.measured(metrics)
        case .ended(let head, let error):
            receive(nil, nil, end: (head, error), of: task)
        case .invalidated:
            handle { $0.machine.invalidated() }
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
            var actions: [TransferStateMachine.Action] = []
            if let head {
                actions = storing(head, if: state.parts.task(task) != nil) + state.machine.received(head, task: task)
            }
            // As many as the usual response has.
            if end != nil, !actions.isEmpty { actions.reserveCapacity(6) }
            if let bytes { actions += state.machine.received(bytes, task: task) }
            if let end { actions += state.machine.completed(task: task, response: end.head, error: end.error) }
            return actions
        }
    }

    /// Returns the action that stores the cookies of a response, before it has any consequence.
    private func storing(_ head: ResponseHead, if isCurrent: @autoclosure () -> Bool) -> [TransferStateMachine.Action] {
        cookies != nil && head.value(of: "Set-Cookie") != nil && isCurrent() ? [.storeCookies(head)] : []
    }

    /// Feeds one event to the machine, and performs the actions that it returns.
    private func handle(_ event: (inout State) -> [TransferStateMachine.Action]) {
        if let batch = state.withLock({ $0.feed(event) }) { perform(batch) }
    }

    /// Performs the actions of a batch, from the action at this index on, and of those that are decided meanwhile.
    private func perform(_ batch: consuming Batch, from start: Int = 0) {
        var start = start
        while true {
            for index in batch.actions[start...].indices {
                if case .storeCookies(let head) = batch.actions[index] {
                    return store(head, andPerform: batch, from: index + 1)
                }
                perform(batch.actions[index], &batch)
            }
            start = 0
            guard !batch.isLast, let next = state.withLock({ $0.nextBatch() }) else { return }
            batch = next
        }
    }

    /// Goes on elsewhere once the cookies of a response are stored: Foundation writes a file for each that is to last, and
    /// the engine's thread serves others, too.
    private func store(_ head: ResponseHead, andPerform batch: Batch, from start: Int) {
        cookies?.store(head, mainDocument: mainDocument) { self.perform(batch, from: start) }
    }

    // MARK: Actions

    /// Called without a lock, by the one thread that empties the outbox.
    private func perform(_ action: TransferStateMachine.Action, _ batch: inout Batch) {
        switch action {
        case .storeCookies:
            preconditionFailure("cookies are stored before the next action, not as one of them")
        case .createTask(let request):
            let request = cookies?.adding(to: request) ?? request
            batch.parts.lease?.engine.makeTask(for: request, of: self, configure: batch.parts.configure)
        case .resumeTask(let task):
            batch.parts.decider?.willSend()
            batch.parts.task(task)?.resume()
        case .cancelTask(let task):
            batch.parts.task(task)?.cancel()
        case .answerRedirect(let request):
            let answer = batch.redirectAnswer.take() ?? state.withLock { $0.redirectAnswer.take() }
            if request != nil { batch.parts.decider?.willSend() }
            answer?(request?.withStream)
        case .askAboutRedirect(let head, let proposal, let round):
            ask(about: head, proposal: proposal, round: round, batch.parts)
        case .askAboutChallenge(let failures, let round):
            askAboutChallenge(failures: failures, round: round, batch.parts)
        case .deliverHead(let head):
            deadlines?.noteHead()
            var isAccepted = true
            deliver(&batch) { sink, decider in
                decider?.received(head: head)
                isAccepted = try sink.receive(head: head)
            }
            if batch.isRefusing || !isAccepted {
                batch.isRefusing = !isAccepted
                state.withLock { $0.refused = isAccepted ? nil : RefusedBody(of: head) }
            }
        case .deliverBytes(let bytes):
            deadlines?.noteActivity()
            let isRefusing = batch.isRefusing
            deliver(&batch) { sink, decider in
                decider?.received(bytes.count)
                if isRefusing {
                    try state.withLock { try $0.refused?.append(bytes) }
                } else {
                    try sink.receive(bytes: bytes)
                }
            }
            batch.parts.task?.took(bytes.count)
        case .report(let progress):
            let isSent = progress.direction == .sent
            if isSent { deadlines?.noteActivity() }
            guard isSent || !batch.isRefusing else { return }
            deliver(&batch) { sink, decider in
                if isSent { decider?.sent(progress.completed) }
                sink.report(progress)
            }
        case .finish(let result):
            deadlines?.end()
            let sink = batch.parts.sink.take()
            let end = batch.sinkError.map { .failure($0) } ?? result
            let refused = batch.isRefusing ? state.withLock { $0.refused.take() } : nil
            let final = refused.map { .failure($0.error(at: end)) } ?? end
            sink?.finish(final.mapError { $0.naming(state.withLock { $0.machine.request.url }) })
        case .release:
            // The decider's captures, among them the user's session, before the lease.
            let lease = batch.parts.lease
            batch.parts = Parts()
            (batch.challenge, batch.redirectAnswer) = (nil, nil)
            withExtendedLifetime(lease) {}
        }
    }

    /// Calls the sink, unless it has thrown before.
    private func deliver(_ batch: inout Batch, _ call: (any TransferSink, (any TransferDecider)?) throws -> Void) {
        guard batch.sinkError == nil, let sink = batch.parts.sink else { return }
        do {
            try call(sink, batch.parts.decider)
        } catch {
            // The machine may have finished already: a result that waits in this batch or in the outbox must not turn this
            // error into a success.
            batch.sinkError = error
            state.withLock { $0.sinkError = error }
            abort(with: error)
        }
    }

    private func ask(about head: ResponseHead, proposal: URLRequest, round: Int, _ parts: Parts) {
        deadlines?.noteActivity()
        guard let decider = parts.decider, let task = parts.task else { return follow(proposal, round: round) }
        decider.decide(redirect: head, of: task, proposal: proposal) { self.follow($0, round: round) }
    }

    /// Answers a question about a redirect: nil takes it as the response.
    private func follow(_ request: URLRequest?, round: Int) {
        let lease = state.withLock { $0.parts.lease }
        do throws(URLClientError) {
            if let url = request?.url { try lease?.engine.checkHost(of: url) }
            handle { $0.machine.answered(request.map { .follow($0) } ?? .deliver, round: round) }
        } catch {
            handle { $0.machine.answered(.fail(error.about(request?.url)), round: round) }
        }
    }

    private func askAboutChallenge(failures: Int, round: Int, _ parts: Parts) {
        let (challenge, url) = state.withLock { ($0.challenge.take(), $0.machine.request.url) }
        guard let decider = parts.decider, let task = parts.task, let challenge else {
            return handle { $0.machine.answered(.deliver, round: round) }
        }
        let counted = ChallengeHandling.challenge(challenge, failures: failures)
        decider.decide(challenge: counted, of: task) { disposition, credential in
            self.handle { $0.machine.answered(.init(disposition, credential, url: url), round: round) }
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
        guard case .stream(let makeStream, _) = request.body else { return nil }
        let stream = makeStream()
        guard let error = BodyStreams.error(before: stream, of: request.url) else { return stream }
        abort(with: error)
        return nil
    }

    /// True if the response may be kept in a cache.
    var isCacheable: Bool { state.withLock { $0.machine.request.isCacheable } }
}

extension Error {
    /// True for the errors of deadlines.
    fileprivate var isLate: Bool {
        if case .deadlineExceeded = (self as? URLClientError)?.code { return true }
        return (self as? URLError)?.code == .timedOut
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
