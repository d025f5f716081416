#if os(Linux)
import Dispatch
import Foundation

/// The bytes of an input stream, which may block: a queue of its own reads it.
struct InputStreamBytes: AsyncSequence, Sendable {
    typealias Element = Data

    private let url: URL
    private let make: @Sendable () -> InputStream

    /// - Parameters:
    ///   - url: The URL of the request, for errors.
    ///   - make: Returns the stream. Called for each iterator.
    init(of url: URL, _ make: @escaping @Sendable () -> InputStream) {
        (self.url, self.make) = (url, make)
    }

    func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(of: url, make)) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        func next() async throws -> Data? {
            try await withCheckedThrowingContinuation { continuation in
                reader.queue.async { continuation.resume(with: Result { try reader.read() }) }
            }
        }
    }

    /// SAFETY: the stream is made and read only on the queue, and closed when nobody can read it any more.
    fileprivate final class Reader: @unchecked Sendable {
        private static let pieceSize = 256 << 10

        let queue = DispatchQueue(label: "Deferred.upload", qos: .userInitiated)
        private let url: URL
        private let make: @Sendable () -> InputStream
        private var stream: InputStream?

        init(of url: URL, _ make: @escaping @Sendable () -> InputStream) {
            (self.url, self.make) = (url, make)
        }

        deinit {
            stream?.close()
        }

        /// Returns the next bytes; nil at the end.
        func read() throws -> Data? {
            let stream = try stream ?? open()
            var bytes = Data(count: Self.pieceSize)
            let count = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { stream.read($0.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count) }
                    ?? 0
            }
            guard count >= 0 else { throw BodyStreams.failure(of: stream, url) }
            return count == 0 ? nil : bytes.prefix(count)
        }

        private func open() throws -> InputStream {
            let stream = make()
            if let error = BodyStreams.error(before: stream, of: url) { throw error }
            stream.open()
            self.stream = stream
            guard stream.streamStatus != .error else { throw BodyStreams.failure(of: stream, url) }
            return stream
        }
    }
}
#endif
