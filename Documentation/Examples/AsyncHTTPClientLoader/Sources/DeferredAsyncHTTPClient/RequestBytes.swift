import Deferred
import Dispatch
import Foundation
import NIOCore
import NIOFoundationCompat

/// The body of a request as async-http-client reads it.
struct RequestBytes: AsyncSequence, Sendable {
    enum Source {
        case stream(HTTPBodyStream)
        case pieces(PieceReader)
    }

    let source: Source

    /// Told how many bytes were read so far.
    let onProgress: @Sendable (Int64) -> Void

    func makeAsyncIterator() -> Iterator {
        switch source {
        case .stream(let stream):
            var iterator = stream.makeAsyncIterator()
            return Iterator(onProgress) { try await iterator.next().map { ByteBuffer(data: $0) } }
        case .pieces(let reader):
            return Iterator(onProgress) { try await reader.next() }
        }
    }

    struct Iterator: AsyncIteratorProtocol {
        private let onProgress: (Int64) -> Void
        private let read: () async throws -> ByteBuffer?
        private var count: Int64 = 0

        init(_ onProgress: @escaping (Int64) -> Void, _ read: @escaping () async throws -> ByteBuffer?) {
            self.onProgress = onProgress
            self.read = read
        }

        mutating func next() async throws -> ByteBuffer? {
            do {
                guard let buffer = try await read() else { return nil }
                count += Int64(buffer.readableBytes)
                onProgress(count)
                return buffer
            } catch {
                throw RequestBodyFailure(underlying: error)
            }
        }
    }
}

/// The body of a request could not be read.
struct RequestBodyFailure: Error {
    let underlying: any Error
}

/// Reads the files and bytes of a body on a queue, since a disk may keep its reader waiting.
final class PieceReader: Sendable {
    private let queue = DispatchQueue(label: "AsyncHTTPClientLoader.upload")
    // SAFETY: used on the queue only, and at the end, when nobody else has it.
    nonisolated(unsafe) private let stream: InputStream

    init(_ stream: InputStream) {
        self.stream = stream
    }

    deinit {
        stream.close()
    }

    /// The next bytes, or `nil` at the end.
    func next() async throws -> ByteBuffer? {
        try await Task.async(on: queue) { [self] in
            if stream.streamStatus == .notOpen { stream.open() }
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            let count = stream.read(&bytes, maxLength: bytes.count)
            if count < 0 { throw stream.streamError ?? CocoaError(.fileReadUnknown) }
            return count == 0 ? nil : ByteBuffer(bytes: bytes[..<count])
        }.get()
    }
}
