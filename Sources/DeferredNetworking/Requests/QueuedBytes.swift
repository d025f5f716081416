import Dispatch
import Foundation

/// Bytes that are read by calls that may block, on a queue of their own.
struct QueuedBytes: AsyncSequence, Sendable {
    typealias Element = Data

    /// Returns the next bytes; nil at the end.
    typealias Read = () throws -> Data?

    /// The most bytes to read at a time.
    static let pieceSize = 256 << 10

    private let open: @Sendable () throws -> Read

    /// - Parameter open: Called for each iterator, on its queue. Released there is what it returns.
    init(_ open: @escaping @Sendable () throws -> Read) {
        self.open = open
    }

    func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(open)) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        func next() async throws -> Data? {
            try await withCheckedThrowingContinuation { continuation in
                reader.queue.async { [reader] in continuation.resume(with: Result { try reader.next() }) }
            }
        }
    }

    /// SAFETY: what it reads is made and read on the queue only.
    fileprivate final class Reader: @unchecked Sendable {
        let queue = DispatchQueue(label: "Deferred.upload", qos: .userInitiated)
        private let open: @Sendable () throws -> Read
        private var read: Read?

        init(_ open: @escaping @Sendable () throws -> Read) {
            self.open = open
        }

        func next() throws -> Data? {
            // The stored closure is called as it is: stored again, it would be wrapped in a thunk each time.
            if let read { return try read() }
            let read = try open()
            self.read = read
            return try read()
        }
    }
}
