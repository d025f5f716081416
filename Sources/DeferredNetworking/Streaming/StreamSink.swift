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

    func receive(head: ResponseHead) throws -> Bool {
        // Bytes that were read already can't be taken back.
        guard !isDelivered else { throw URLError(.badServerResponse, failing: head.url) }
        // The body of a response that leads to a retry, or to another attempt with a credential, isn't the result's.
        guard attempt.accepts(head), attempt.isFinal(head) else { return false }
        try check(head)
        let body = HTTPBodyStream(buffer) { [owner = attempt.owner] in owner.cancel() }
        isDelivered = true
        attempt.deliver(.stream(body, head))
        return true
    }

    func receive(bytes: Data) throws {
        try buffer.append(bytes)
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
            attempt.end(with: .failure(failure ?? URLError(.badServerResponse)))
        }
    }
}
