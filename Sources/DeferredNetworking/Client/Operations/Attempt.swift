internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What ends an attempt from outside.
struct AttemptHandle: Sendable {
    let abort: @Sendable (any Error) -> Void
}

/// One try of an operation: a transfer with its redirects, or two for a download that has to start over.
final class Attempt<Value: Sendable>: Sendable {
    let request: TransferRequest
    let watch: AttemptWatch
    let operation: ClientOperation<Value>
    private let round: Int
    private let lease: LeaseHold
    private let lastHead = Lock<HTTPURLResponse?>(nil)

    var validation: URLClient.StatusValidation { operation.core.configuration.validation }

    init(_ request: TransferRequest, lease: CarrierLease, of operation: ClientOperation<Value>, round: Int) {
        self.request = request
        self.operation = operation
        self.round = round
        self.lease = LeaseHold(lease)
        watch = AttemptWatch(operation.core.configuration.deadlines, request.request)
    }

    /// Begins the attempt's only transfer.
    func start(_ sink: AttemptSink<Value>) -> AttemptHandle {
        let transfer = transfer(request, sink)
        return AttemptHandle { transfer.abort(with: $0) }
    }

    /// Begins a transfer that carries `request`, which is the attempt's or made from it.
    func transfer(_ request: TransferRequest, _ sink: any TransferSink) -> Transfer {
        let (configuration, journal) = (operation.core.configuration, operation.journal)
        var timed = request
        // The deadlines are ours; the platform's would cut them down to whole seconds.
        timed.request.timeoutInterval = TimeoutRounding.longest
        let carrierLease = CarrierLease(lease.carrier, onReturn: { [lease] in _ = lease })
        let noteSent: @Sendable (URLSessionTask) -> Void = { _ in journal.note(.sent) }
        let transfer = Transfer.start(
            timed,
            on: carrierLease,
            redirectLimit: configuration.redirects.limit,
            advisor: AttemptAdvisor(policy: configuration.redirects, journal: journal, watch: watch),
            configure: journal.isMonitored ? noteSent : nil,
            sink: sink
        )
        watch.begin { [weak transfer] error in transfer?.abort(with: error) }
        return transfer
    }

    func received(head: URLResponse) {
        watch.noteHead()
        guard let head = head as? HTTPURLResponse else { return }
        lastHead.withLock { $0 = head }
        operation.journal.note(.response(head))
    }

    /// The head as every client's requests, which are HTTP, have it.
    func head(_ response: URLResponse) -> Result<HTTPURLResponse, any Error> {
        (response as? HTTPURLResponse).map { .success($0) }
            ?? .failure(URLError(.badServerResponse, failing: request.url))
    }

    /// Whether the operation would not try again after this head.
    func isFinal(_ head: HTTPURLResponse) -> Bool {
        operation.isFinal(head)
    }

    /// Gives the operation its result before the transfer ends.
    func deliver(_ value: Value) {
        operation.delivered(value, round: round)
    }

    func end(with result: Result<Value, any Error>) {
        watch.end()
        operation.attemptEnded(.init(result: result, head: lastHead.withLock { $0 }), round: round)
    }
}

/// Gives a lease back when the last transfer and the attempt are gone.
private final class LeaseHold: Sendable {
    private let lease: CarrierLease

    var carrier: CarrierSession { lease.carrier }

    init(_ lease: CarrierLease) {
        self.lease = lease
    }

    deinit {
        lease.giveBack()
    }
}
