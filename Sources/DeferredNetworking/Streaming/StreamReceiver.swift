import Foundation

/// Delivers a response as soon as its head has arrived, and then its bytes as they arrive.
struct StreamReceiver: ResponseReceiver {
    private let buffer: StreamBuffer
    private let onProgress: @Sendable (BodyProgress) -> Void
    private var isDelivered = false

    /// True if the request waits for a server's word before its body.
    private var hasExpectation = false

    init(_ buffer: StreamBuffer, onProgress: @escaping @Sendable (BodyProgress) -> Void) {
        self.buffer = buffer
        self.onProgress = onProgress
    }

    var wantsOwnConnection: Bool { true }

    mutating func begin(_ request: CheckedRequest, of exchange: Exchange) -> CheckedRequest {
        hasExpectation = request.hasBody && request.value(of: "Expect") != nil
        buffer.pauseWhenFull(exchange)
        return request
    }

    mutating func receive(head: ResponseHead, of exchange: Exchange) throws -> HeadVerdict {
        // Bytes that were read already can't be taken back.
        guard !isDelivered else { throw URLError(.badServerResponse, failing: head.url) }
        // Libcurl sends such a request once more, without the expectation.
        if hasExpectation, head.status == 417 { return .refuse }
        // The body of a response that leads to a retry, or to another attempt with a credential, isn't the result's.
        guard exchange.accepts(head), exchange.isFinal(head) else { return .refuse }
        _ = try head.requiringHTTP()
        isDelivered = true
        // Its engine retains it until it has ended; whoever keeps the body need not keep what belongs to the client.
        return .deliver(HTTPBodyStream(buffer) { [weak exchange] in exchange?.cancel() })
    }

    func receive(bytes: Data) throws {
        try buffer.append(bytes)
    }

    func receive(end head: ResponseHead) {
        if isDelivered { buffer.finish(nil, trailers: head.trailers) }
    }

    func report(_ progress: BodyProgress) {
        if isDelivered { onProgress(progress) }
    }

    func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd {
        var failure: (any Error)?
        if case .failure(let error) = result { failure = error }
        // The buffer of an attempt without a stream is empty, and the next one's as well.
        guard isDelivered else { return .result(.failure(failure ?? URLError(.badServerResponse))) }
        buffer.finish(failure, trailers: try? result.get().trailers)
        return .delivered(failure)
    }
}
