import Foundation

/// Gathers a response's body in memory.
struct DataReceiver: ResponseReceiver {
    /// The most memory to reserve on the word of a `Content-Length` alone, in bytes.
    private static let largestReservation = 4 << 20

    private let limit: Int64?
    private let onProgress: @Sendable (BodyProgress) -> Void

    private var body = Data()

    /// The head, until the memory that it announces is reserved.
    private var head: ResponseHead?

    /// - Parameter limit: the largest body, in bytes; a larger one ends in `URLClientError.bodyTooLarge`.
    init(limit: Int64? = nil, onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in }) {
        self.limit = limit
        self.onProgress = onProgress
    }

    mutating func receive(head: ResponseHead, of exchange: Exchange) -> HeadVerdict {
        body = Data()
        guard exchange.accepts(head) else { return .refuse }
        self.head = head
        return .take
    }

    mutating func receive(bytes: Data) throws {
        if let limit, Int64(body.count) + Int64(bytes.count) > limit {
            body = Data()
            throw URLClientError.bodyTooLarge(limit: limit)
        }
        // Not copied: mostly, it is the whole body.
        if body.isEmpty { return body = bytes }
        if let announced = head.take()?.value(of: "Content-Length").flatMap(HTTPNumber.parse) {
            body.reserveCapacity(Int(min(announced, Int64(Self.largestReservation))))
        }
        body.append(bytes)
    }

    func report(_ progress: BodyProgress) {
        onProgress(progress)
    }

    mutating func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd {
        let body = self.body
        self.body = Data()
        return .result(result.map { .data(body, $0) })
    }
}
