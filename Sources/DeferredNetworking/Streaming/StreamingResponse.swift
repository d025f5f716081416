public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A response whose head has come, and whose body is on its way.
///
/// ```swift
/// let response = try await client.stream(URLRequest(url: url)).get()
/// for try await bytes in response.body {
///     hash.update(bytes)
/// }
/// ```
public struct StreamingResponse: Sendable {
    /// The response's status and header fields.
    public let head: HTTPURLResponse

    /// The body. When the last reference to it, to its iterators and to the task that gave it goes before
    /// the end, the transfer is cancelled.
    public let body: Body
}

extension StreamingResponse {
    /// The bytes of a body, in the pieces in which they came, of at most 256 KiB, none of them empty.
    ///
    /// It can be read once: several iterators share the bytes among them. It throws what the transfer failed with, after
    /// the bytes that came before, and `CancellationError` when the reading Swift task is cancelled.
    public struct Body: AsyncSequence, Sendable {
        /// A piece of the body.
        public typealias Element = Data

        private let reading: Reading

        init(_ buffer: StreamBuffer, onAbandon: @escaping @Sendable () -> Void) {
            reading = Reading(buffer, onAbandon)
        }

        /// Bytes that came and were not read yet.
        var waitingCount: Int64 { reading.buffer.waitingCount }

        /// Begins, or goes on, with the first bytes that nobody has read.
        public func makeAsyncIterator() -> Iterator { Iterator(reading: reading) }

        /// Ends the transfer, if it hasn't ended, and throws away what was not read: for a reader that has enough.
        public func cancel() { reading.abandon() }

        /// Reads a body.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let reading: Reading

            /// The next bytes, or `nil` at the end.
            public mutating func next() async throws -> Data? {
                try await reading.buffer.next()
            }
        }
    }
}

/// Cancels the transfer when nobody is left who could read.
private final class Reading: Sendable {
    let buffer: StreamBuffer
    private let onAbandon: @Sendable () -> Void

    init(_ buffer: StreamBuffer, _ onAbandon: @escaping @Sendable () -> Void) {
        self.buffer = buffer
        self.onAbandon = onAbandon
    }

    deinit {
        abandon()
    }

    func abandon() {
        buffer.discard()
        onAbandon()
    }
}
