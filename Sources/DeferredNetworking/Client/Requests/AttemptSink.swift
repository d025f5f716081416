import Foundation

/// Sits between a transfer and the sink that processes its body: tracks activity and events, and withholds the bodies
/// of responses that aren't accepted from that sink.
///
/// SAFETY: a sink has one transfer, which calls it in order and never twice at once, and whose lock orders the calls.
final class AttemptSink: TransferSink, @unchecked Sendable {
    private let inner: any TransferSink
    private let attempt: Attempt
    private let validation: URLClient.StatusValidation?
    private var refused: RefusedBody?
    private var sentCount: Int64 = 0

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
        attempt.deadlines.noteActivity()
        attempt.events.received(bytes.count)
        if refused == nil {
            try inner.receive(bytes: bytes)
        } else {
            try refused?.append(bytes)
        }
    }

    func noteActivity() {
        attempt.deadlines.noteActivity()
    }

    func report(_ progress: BodyProgress) {
        switch progress.direction {
        case .sent:
            attempt.deadlines.noteActivity()
            // After a redirect that keeps the body, the count starts over.
            attempt.events.sent(progress.completed - (progress.completed < sentCount ? 0 : sentCount))
            sentCount = progress.completed
            inner.report(progress)
        case .received where refused == nil:
            inner.report(progress)
        case .received:
            break
        }
    }

    func finish(_ result: Result<ResponseHead, any Error>) {
        if let refused, case .success = result {
            inner.finish(.failure(refused.error))
        } else {
            inner.finish(result)
        }
    }
}
