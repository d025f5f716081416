internal import DeferredCore
internal import DeferredHTTP
internal import Foundation

/// The response that is made of a stored one: RFC 9111, section 4.
struct Delivery: Sendable {
    private let head: StoredHead
    private let reuse: ReuseRules.Reuse
    private let request: HTTPRequest
    private let status: HTTPStatus
    private let headers: HTTPHeaders
    /// The stored bytes to deliver.
    private let range: Range<Int64>

    init(_ head: StoredHead, _ reuse: ReuseRules.Reuse, _ request: HTTPRequest) {
        self.head = head
        self.reuse = reuse
        self.request = request
        var headers = head.headers(withAge: reuse.age)
        switch reuse.form {
        case .whole:
            status = head.status
            // A body that is on its way may have no length yet.
            range = 0..<(request.method == .head ? 0 : max(0, head.extent.count))
        case .part(let bytes):
            status = 206
            headers["Content-Range"] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(head.extent.total)"
            headers["Content-Length"] = String(bytes.count)
            range = (bytes.lowerBound - head.extent.first)..<(bytes.upperBound - head.extent.first)
        case .notModified:
            status = .notModified
            // Those that describe a body: RFC 9110, section 15.4.5.
            headers = headers.without(["Content-Length", "Content-Encoding", "Content-Range", "Content-Type"])
            range = 0..<0
        }
        self.headers = headers
    }

    /// Returns the response, if it needs no bytes but those in memory.
    func responseInMemory(from stored: any StoredBody) -> HTTPResponse? {
        switch request.delivery {
        case .stream: return range.isEmpty ? response(.stream(.empty)) : nil
        case .file where status.isSuccess: return nil
        case .data, .file:
            if range.isEmpty { return response(.data(Data())) }
            guard range == 0..<head.extent.count else { return nil }
            return stored.bytesInMemory.map { response(.data($0)) }
        }
    }

    /// Calls `body` with the response, or with `nil` if there can be none. For one that needs bytes that are elsewhere.
    ///
    /// - Parameter onDamage: Called if the stored bytes are damaged, also if that turns out while a stream is read.
    func makeResponse(
        from stored: any StoredBody,
        onDamage: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable (HTTPResponse?) -> Void
    ) {
        switch request.delivery {
        case .stream:
            // Another process may have removed the body since the head was read: what was opened once stays readable.
            let pieces = StoredPieces(stored, range, onDamage)
            stored.read(pieces.piece(at: range.lowerBound)) { first in
                if first == nil { onDamage() }
                body(first.map { response(.stream(pieces.stream(after: $0))) })
            }
        case .file(let file, _) where status.isSuccess && range == 0..<head.extent.count:
            stored.copy(to: file) { end in
                if end == .damaged { onDamage() }
                body(end == .copied ? response(.file(file)) : nil)
            }
        case .data, .file:
            stored.read(range) { bytes in
                if bytes == nil { onDamage() }
                body(bytes.flatMap { response(with: $0) })
            }
        }
    }

    /// - Returns: `nil` if the request's file can't be written.
    private func response(with bytes: Data) -> HTTPResponse? {
        guard case .file(let file, _) = request.delivery, status.isSuccess else { return response(.data(bytes)) }
        let isWritten = (try? bytes.write(to: file, options: .atomic)) != nil
        return isWritten ? response(.file(file)) : nil
    }

    func response(_ body: HTTPResponse.Body) -> HTTPResponse {
        HTTPResponse(
            request: request,
            status: status,
            headers: headers,
            body,
            hasURLOfRequest: true,
            source: reuse.source,
            staleReason: reuse.staleReason
        )
    }
}

/// The bytes of a stored response, read as they are asked for. Its iterators share them, as those of a stream do.
private final class StoredPieces: Sendable {
    /// The bytes that no iterator has taken.
    private struct Rest: Sendable {
        var position: Int64
        /// The first piece, which was read before there was a stream.
        var first: Data?
    }

    private static let pieceSize: Int64 = 1 << 16
    private let body: any StoredBody
    private let range: Range<Int64>
    private let onDamage: @Sendable () -> Void
    private let rest: Lock<Rest>

    init(_ body: any StoredBody, _ range: Range<Int64>, _ onDamage: @escaping @Sendable () -> Void) {
        self.body = body
        self.range = range
        self.onDamage = onDamage
        rest = Lock(Rest(position: range.lowerBound))
    }

    /// Returns the range up to the end of a block, so that each is read and checked once.
    func piece(at position: Int64) -> Range<Int64> {
        position..<Swift.min((position / Self.pieceSize + 1) * Self.pieceSize, range.upperBound)
    }

    /// - Parameter first: The first piece.
    func stream(after first: Data) -> HTTPBodyStream {
        rest.withLock { $0.first = first }
        return HTTPBodyStream(HTTPSequence<Data, any Error> { Iterator(pieces: self) })
    }

    private struct Iterator: AsyncIteratorProtocol {
        let pieces: StoredPieces

        func next() async throws -> Data? { try await pieces.next() }
    }

    private func next() async throws -> Data? {
        // Taken before it is read: of two readers at the same time, each gets a piece of its own.
        let (piece, first) = try rest.withLock { rest in
            let piece = self.piece(at: rest.position)
            // A reader that was cancelled leaves the rest to others.
            if !piece.isEmpty { try _Concurrency.Task.checkCancellation() }
            rest.position = piece.upperBound
            return (piece, rest.first.take())
        }
        if let first { return first }
        if piece.isEmpty { return nil }
        let bytes = await withCheckedContinuation { continuation in
            body.read(piece) { continuation.resume(returning: $0) }
        }
        guard let bytes else {
            onDamage()
            throw DamagedBody()
        }
        return bytes
    }
}
