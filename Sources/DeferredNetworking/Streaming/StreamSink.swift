import Foundation

/// Delivers a response as soon as its head has arrived, and then its bytes as they arrive.
///
/// SAFETY: a sink has one transfer, which calls it in order and never twice at once, and whose lock orders the calls.
final class StreamSink: TransferSink, @unchecked Sendable {
    private let attempt: Attempt
    private let check: @Sendable (ResponseHead) throws -> Void
    private let buffer: StreamBuffer
    private let onProgress: @Sendable (BodyProgress) -> Void
    private var isDelivered = false

    /// The body of a response that leads to a retry or to another attempt with a credential.
    private var refused: RefusedBody?

    /// - Parameter check: Throws if a response with this head can't be a result.
    init(
        _ attempt: Attempt,
        onProgress: @escaping @Sendable (BodyProgress) -> Void,
        check: @escaping @Sendable (ResponseHead) throws -> Void
    ) {
        self.attempt = attempt
        self.check = check
        buffer = StreamBuffer(attempt.owner.transport.configuration)
        self.onProgress = onProgress
    }

    var wantsOwnConnection: Bool { true }

    func begin(_ transfer: Transfer) {
        buffer.hold(transfer)
    }

    func receive(head: ResponseHead) throws {
        // Bytes that were read already can't be taken back.
        guard !isDelivered else { throw URLError(.badServerResponse, failing: head.url) }
        guard attempt.isFinal(head) else {
            refused = RefusedBody(of: head)
            return
        }
        try check(head)
        let body = HTTPBodyStream(buffer) { [owner = attempt.owner] in owner.cancel() }
        isDelivered = true
        attempt.deliver(.stream(body, head))
    }

    func receive(bytes: Data) throws {
        if isDelivered {
            try buffer.append(bytes)
        } else {
            try refused?.append(bytes)
        }
    }

    func report(_ progress: BodyProgress) {
        if isDelivered {
            onProgress(progress)
        }
    }

    func finish(_ result: Result<ResponseHead, any Error>) {
        var failure: (any Error)?
        if case .failure(let error) = result { failure = error }
        buffer.finish(failure)
        if isDelivered {
            attempt.endStream(failure)
        } else {
            // A response that is complete and was not delivered is one to be tried again.
            attempt.end(with: .failure(refused?.error(at: result) ?? failure ?? URLError(.badServerResponse)))
        }
    }
}
