internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One try of a client's request: a transfer with its redirects, or two for a download that has to start over.
final class Attempt: Sendable {
    let request: CheckedRequest
    let deadlines: TransferDeadlines
    let owner: ClientRequest
    private let round: Int
    private let lease: EngineLease
    private let lastHead = Lock<ResponseHead?>(nil)

    var events: EventReporter? { owner.events }
    var validation: URLClient.StatusValidation { owner.policies.validation }
    private var redirects: URLClient.RedirectPolicy {
        let redirects = owner.options.redirects ?? owner.transport.configuration.redirects
        return owner.options.homeFields.isEmpty ? redirects : redirects.keepingAtHome(owner.options.homeFields)
    }

    init(_ request: CheckedRequest, lease: EngineLease, of owner: ClientRequest, round: Int) {
        self.request = request
        self.owner = owner
        self.round = round
        self.lease = lease
        deadlines = TransferDeadlines(owner.deadlines, request, clock: owner.transport.configuration.deadlineClock)
    }

    private var configure: EngineTaskConfiguration? {
        guard let priority = owner.options.priority else { return nil }
        return { task in task.priority = priority }
    }

    /// Begins a transfer of the attempt's request, whose status is judged before `sink` gets the body.
    func transfer(to sink: any TransferSink) -> Transfer {
        transfer(request, AttemptSink(sink, self, validation: validation))
    }

    /// Begins a transfer of `request`, which is the attempt's request or derived from it.
    func transfer(_ request: CheckedRequest, _ sink: AttemptSink) -> Transfer {
        Transfer(
            request,
            on: lease,
            deadlines: deadlines,
            redirectLimit: redirects.limit,
            decider: self,
            configure: configure,
            sink: sink
        )
    }

    func received(head: ResponseHead) {
        guard head.isHTTP else { return }
        lastHead.withLock { $0 = head }
        if let age = head.age { events?.report(.cached(age: age, isConfirmed: head.isConfirmed)) }
        events?.report(.response(head))
    }

    /// Returns true if no other attempt would follow a response with this head.
    func isFinal(_ head: ResponseHead) -> Bool {
        owner.isFinal(head)
    }

    /// Delivers the request's result before the transfer ends.
    func deliver(_ response: ReceivedResponse) {
        owner.delivered(response, round: round)
    }

    /// Ends an attempt whose result was delivered before.
    func endStream(_ error: (any Error)?) {
        owner.streamEnded(error, round: round)
    }

    func end(with result: Result<ReceivedResponse, any Error>) {
        owner.attemptEnded(.init(result: result, head: lastHead.withLock { $0 }), round: round)
    }
}

/// Follows redirects by the client's policy. The request itself answers challenges: a 401 is delivered to it.
extension Attempt: TransferDecider {
    func willSend() {
        events?.report(.sent)
    }

    func waitsForConnectivity() {
        events?.report(.waitingForConnectivity)
    }

    var isMeasured: Bool { events != nil }

    func measured(_ metrics: URLClient.Metrics) {
        events?.measured(metrics)
    }

    func decide(
        redirect head: ResponseHead,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let next = owner.locals.restore { redirects.decide(head, proposal) }
        if let target = next?.url {
            events?.report(.redirected(head, to: target))
        }
        answer(next)
    }

    func decide(challenge: URLAuthenticationChallenge, of task: any EngineTask, answer: @escaping ChallengeAnswer) {
        answer(.performDefaultHandling, nil)
    }
}

/// Sits between a transfer and the sink that processes its body: tracks events, and withholds the bodies
/// of responses that aren't accepted from that sink.
///
/// SAFETY: a sink has one transfer, which calls it in order and never twice at once, and whose lock orders the calls.
final class AttemptSink: TransferSink, @unchecked Sendable {
    private let inner: any TransferSink
    private let attempt: Attempt
    private let validation: URLClient.StatusValidation?
    @exclusivity(unchecked) private var refused: RefusedBody?
    @exclusivity(unchecked) private var sentCount: Int64 = 0

    /// - Parameter validation: nil when `inner` judges statuses itself.
    init(_ inner: any TransferSink, _ attempt: Attempt, validation: URLClient.StatusValidation?) {
        self.inner = inner
        self.attempt = attempt
        self.validation = validation
    }

    var wantsOwnConnection: Bool { inner.wantsOwnConnection }

    func begin(_ transfer: Transfer) {
        inner.begin(transfer)
    }

    func receive(head: ResponseHead) throws {
        attempt.received(head: head)
        if head.isHTTP, let validation, !validation.accepts(head.status) {
            refused = RefusedBody(of: head)
        } else {
            refused = nil
            try inner.receive(head: head)
        }
    }

    func receive(bytes: Data) throws {
        attempt.events?.received(bytes.count)
        if refused == nil {
            try inner.receive(bytes: bytes)
        } else {
            try refused?.append(bytes)
        }
    }

    func report(_ progress: BodyProgress) {
        switch progress.direction {
        case .sent:
            // After a redirect that keeps the body, the count starts over.
            attempt.events?.sent(progress.completed - (progress.completed < sentCount ? 0 : sentCount))
            sentCount = progress.completed
            inner.report(progress)
        case .received where refused == nil:
            inner.report(progress)
        case .received:
            break
        }
    }

    func finish(_ result: Result<ResponseHead, any Error>) {
        inner.finish(refused.map { .failure($0.error(at: result)) } ?? result)
    }
}
