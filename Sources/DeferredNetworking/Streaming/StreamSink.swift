import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Hands a response over as soon as its head is there, and its bytes when they come.
///
/// SAFETY: a sink has one transfer, which calls it in order and never twice at once, and whose lock orders the calls.
final class StreamSink: TransferSink, @unchecked Sendable {
    private let attempt: Attempt<StreamingResponse>
    private let buffer: StreamBuffer
    private let onProgress: @Sendable (BodyProgress) -> Void
    private var isDelivered = false

    /// That of a response which is tried again, or met with a credential.
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
        // A reader that doesn't read is no silence of the server's.
        let isFull: @Sendable () -> Bool = { [weak buffer] in buffer?.isFull ?? false }
        attempt.deadlines.forgiveSilence(while: isFull)
        buffer.observeFullness { [weak transfer] in transfer?.hold(while: isFull) }
    }

    func receive(head: URLResponse) throws {
        let head = try attempt.head(head).get()
        // What was read can't be taken back.
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
            // Delivered, this counts for nothing, and must not have the buffer, which would end with it. Else it is a
            // response that was to be tried again.
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
