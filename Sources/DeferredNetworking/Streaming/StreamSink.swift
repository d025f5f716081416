import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Delivers a response as soon as its head has arrived, and then its bytes as they arrive.
///
/// SAFETY: a sink has one transfer, which calls it in order and never twice at once, and whose lock orders the calls.
final class StreamSink: TransferSink, @unchecked Sendable {
    private let attempt: Attempt<StreamingResponse>
    private let buffer: StreamBuffer
    private let onProgress: @Sendable (BodyProgress) -> Void
    private var isDelivered = false

    /// The body of a response that leads to a retry or to another attempt with a credential.
    private var refused: RefusedBody?

    init(_ attempt: Attempt<StreamingResponse>, onProgress: @escaping @Sendable (BodyProgress) -> Void) {
        self.attempt = attempt
        let configuration = attempt.owner.configuration
        buffer = StreamBuffer(
            memoryLimit: configuration.streamBufferSize,
            limit: configuration.streamBufferLimit ?? ClientEngines.streamBufferLimit(of: configuration)
        )
        self.onProgress = onProgress
    }

    func begin(_ transfer: Transfer) {
        // A slow reader doesn't count as silence of the server.
        let isFull: @Sendable () -> Bool = { [weak buffer] in buffer?.isFull ?? false }
        attempt.deadlines.forgiveSilence(while: isFull)
        buffer.observeFullness { [weak transfer] in transfer?.hold(while: isFull) }
    }

    func receive(head: URLResponse) throws {
        let head = try attempt.head(head).get()
        // Bytes that were read already can't be taken back.
        guard !isDelivered else { throw URLError(.badServerResponse, failing: head.url) }
        guard attempt.isFinal(head) else {
            refused = RefusedBody(of: head)
            return
        }
        isDelivered = true
        let body = StreamingResponse.Body(buffer) { [owner = attempt.owner] in owner.cancel() }
        attempt.deliver(StreamingResponse(head: head, body: body))
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

    func finish(_ result: Result<URLResponse, any Error>) {
        switch result {
        case .success(let response):
            buffer.finish(nil)
            // If the stream was delivered, this value is ignored, and must not hold the buffer, which would be
            // discarded with it. Otherwise, the response was one to be retried.
            let body = StreamingResponse.Body(StreamBuffer(memoryLimit: 0)) {}
            let refusal = refused?.error ?? URLClientError.unacceptableStatus(code: 0, body: Data())
            attempt.end(
                with: isDelivered
                    ? attempt.head(response).map { StreamingResponse(head: $0, body: body) } : .failure(refusal)
            )
        case .failure(let error):
            buffer.finish(error)
            attempt.end(with: .failure(error))
        }
    }
}
