public import Foundation

/// A response whose head has arrived and whose body is still being received.
///
/// ```swift
/// let response = try await client.stream(URLRequest(url: url)).get()
/// for try await bytes in response.body {
///     hash.update(bytes)
/// }
/// ```
public struct StreamingResponse: Sendable {
    /// The response's status and header fields.
    public let head: ResponseHead

    /// The body. The transfer is cancelled if the last reference to the body, its iterators and the task that delivered
    /// it is released before the end.
    public let body: Body
}

extension StreamingResponse {
    /// The bytes of a body, in the chunks in which they arrive: at most 256 KiB each, and never empty.
    ///
    /// A body can be read once: several iterators share its bytes. Iterating throws the error of the transfer after the
    /// bytes that arrived before it, and `CancellationError` when the reading Swift task is cancelled.
    public struct Body: AsyncSequence, Sendable {
        /// A chunk of the body.
        public typealias Element = Data

        private let reading: Reading

        init(_ buffer: StreamBuffer, onAbandon: @escaping @Sendable () -> Void) {
            reading = Reading(buffer, onAbandon)
        }

        /// The number of bytes received but not read yet.
        var waitingCount: Int64 { reading.buffer.waitingCount }

        /// Returns an iterator that starts at the first unread bytes.
        public func makeAsyncIterator() -> Iterator { Iterator(reading: reading) }

        /// Ends the transfer, if it hasn't ended, and discards the unread bytes: for a reader that needs no more.
        public func cancel() { reading.abandon() }

        /// An iterator over the chunks of a body.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let reading: Reading

            /// Returns the next bytes, or `nil` at the end.
            public mutating func next() async throws -> Data? {
                try await reading.buffer.next()
            }
        }
    }
}

/// Cancels the transfer when the last possible reader is gone.
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
