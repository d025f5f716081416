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

    /// Begins a transfer of `request`, which is the attempt's request or derived from it.
    func transfer(_ request: CheckedRequest, to sink: any TransferSink) -> Transfer {
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

    /// Returns true if the client accepts the status.
    func accepts(_ head: ResponseHead) -> Bool {
        !head.isHTTP || owner.policies.validation.accepts(head.status)
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

    func received(head: ResponseHead) {
        guard head.isHTTP else { return }
        lastHead.withLock { $0 = head }
        if let age = head.age { events?.report(.cached(age: age, isConfirmed: head.isConfirmed)) }
        events?.report(.response(head))
    }

    func received(_ count: Int) {
        events?.received(count)
    }

    func sent(_ completed: Int64) {
        events?.sent(completed)
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
}
