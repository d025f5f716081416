package import Foundation

/// Gathers a response's body in memory.
///
/// SAFETY: a sink has one transfer, which calls it in order and never twice at once, and whose lock orders the calls.
package final class DataSink: TransferSink, @unchecked Sendable {
    /// The most memory to reserve on the word of a `Content-Length` alone, in bytes.
    private static let largestReservation = 4 << 20

    private let limit: Int64?
    private let accepts: (@Sendable (ResponseHead) -> Bool)?
    private let onProgress: @Sendable (BodyProgress) -> Void
    private let completion: @Sendable (Result<(Data, ResponseHead), any Error>) -> Void

    @exclusivity(unchecked) private var body = Data()

    /// The number of bytes that the head announced, unless they have been reserved.
    @exclusivity(unchecked) private var announced: Int64?

    /// - Parameters:
    ///   - limit: the largest body, in bytes; a larger one ends in `URLClientError.bodyTooLarge`.
    ///   - accepts: returns false for a response that is refused; nil for none.
    package init(
        limit: Int64? = nil,
        accepting accepts: (@Sendable (ResponseHead) -> Bool)? = nil,
        onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in },
        completion: @escaping @Sendable (Result<(Data, ResponseHead), any Error>) -> Void
    ) {
        self.limit = limit
        self.accepts = accepts
        self.onProgress = onProgress
        self.completion = completion
    }

    package func receive(head: ResponseHead) throws -> Bool {
        body = Data()
        guard accepts?(head) ?? true else { return false }
        announced = head.value(of: "Content-Length").flatMap(HTTPNumber.parse)
        return true
    }

    package func receive(bytes: Data) throws {
        if let limit, Int64(body.count) + Int64(bytes.count) > limit {
            body = Data()
            throw URLClientError.bodyTooLarge(limit: limit)
        }
        guard let announced = announced.take() else { return body.append(bytes) }
        if bytes.count >= announced {
            // Not copied.
            body = bytes
        } else {
            body.reserveCapacity(Int(min(announced, Int64(Self.largestReservation))))
            body.append(bytes)
        }
    }

    package func report(_ progress: BodyProgress) {
        onProgress(progress)
    }

    package func finish(_ result: Result<ResponseHead, any Error>) {
        let body = self.body
        self.body = Data()
        completion(result.map { (body, $0) })
    }
}
