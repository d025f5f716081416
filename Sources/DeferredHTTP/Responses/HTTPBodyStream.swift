internal import DeferredCore
public import Foundation
internal import Synchronization

/// A response's body that is read as it comes.
///
/// ```swift
/// request.delivery = .stream
/// let response = try await chain.load(request).get()
/// for try await bytes in response.stream ?? .empty {
///     hash.update(bytes)
/// }
/// ```
///
/// The request is complete when the head is there, and its place in a ``Throttle`` is free when the body has ended. The
/// transfer is cancelled when the body is (``cancel()``), when nobody can read it any more, and by a reset.
///
/// It can be read once. It throws what the transfer failed with as an ``HTTPError``, after the bytes that came before,
/// and `CancellationError` when the reading Swift task or the stream was cancelled.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    private let reading: Reading

    /// Creates a stream, for a terminal loader of one's own.
    ///
    /// - Parameters:
    ///   - bytes: The body. Kept until the stream has gone.
    ///   - onCancel: Stops the transfer. Called at most once, and not when the body was read to its end. A reader that
    ///     waits for bytes meanwhile is woken by cancelling the Swift task in which it waits for the sequence.
    public init<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        onCancel: @escaping @Sendable () -> Void = {}
    ) where Bytes.Element == Data {
        self.init(bytes, isWoken: false, onCancel: onCancel, mapError: { $0 })
    }

    /// - Parameter isWoken: Whether `onCancel` ends a reader's wait for bytes.
    init<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        isWoken: Bool,
        onCancel: @escaping @Sendable () -> Void,
        mapError: @escaping @Sendable (any Error) -> any Error
    ) where Bytes.Element == Data {
        reading = Reading(isWoken: isWoken, onCancel: onCancel) {
            let iterator = Reading.Box(bytes.makeAsyncIterator())
            return {
                do { return try await iterator.content.next() } catch { throw mapError(error) }
            }
        }
    }

    /// A body without bytes.
    public static var empty: HTTPBodyStream { HTTPBodyStream(AsyncStream<Data> { $0.finish() }) }

    /// Begins, or goes on, with the first bytes that nobody has read.
    public func makeAsyncIterator() -> Iterator { Iterator(reading) }

    /// Ends the transfer, if it hasn't ended, and throws away what was not read.
    public func cancel() { fail(with: CancellationError()) }

    /// All bytes that nobody has read.
    ///
    /// - Parameter limit: How many there may be.
    /// - Throws: What reading throws, and ``HTTPBodyStream/TooLarge``, which cancels the transfer.
    public func collect(upTo limit: Int = 64 << 20) async throws -> Data {
        var result = Data()
        for try await bytes in self {
            guard bytes.count <= limit - result.count else {
                cancel()
                throw TooLarge(limit: limit)
            }
            result += bytes
        }
        return result
    }

    /// Has readers throw `error`, and stops the transfer.
    func fail(with error: any Error) { reading.fail(with: error) }

    /// A reference that doesn't keep anything from being cancelled because nobody reads it.
    var weak: WeakStream { WeakStream(reading: reading) }

    /// Calls `handler` when the body has been read, or never will be; the error is `nil` for a whole one.
    func addEndHandler(_ handler: @escaping @Sendable ((any Error)?) -> Void) {
        reading.end.upon(.immediate, handler)
    }

    /// How many bytes were read; it doesn't keep the stream.
    var counter: ByteCounter { reading.counter }

    /// More bytes than were allowed.
    public struct TooLarge: Error, CustomStringConvertible {
        /// The number of bytes that there may be.
        public let limit: Int

        /// One line for a log.
        public var description: String { "the body has more than \(limit) bytes" }
    }

    /// Reads a body.
    public struct Iterator: AsyncIteratorProtocol {
        private let reading: Reading
        private let nextPiece: Reading.Next

        fileprivate init(_ reading: Reading) {
            self.reading = reading
            nextPiece = reading.makeNext()
        }

        /// The next bytes, or `nil` at the end.
        public mutating func next() async throws -> Data? {
            try reading.checkFailure()
            do {
                let bytes = try await (reading.isWoken ? nextPiece() : reading.wakeable(nextPiece))
                // Bytes that came after a failure are nobody's.
                try reading.checkFailure()
                reading.note(bytes)
                return bytes
            } catch {
                let failure = reading.failure ?? error
                // A reader that was cancelled leaves the rest to others.
                if !(failure is CancellationError) { reading.finish(failure) }
                throw failure
            }
        }
    }
}

/// A stream that is cancelled with others, unless it has gone before.
struct WeakStream: Sendable {
    fileprivate weak var reading: Reading?

    func cancel() { fail(with: CancellationError()) }

    func fail(with error: any Error) { reading?.fail(with: error) }
}

/// Counts the bytes that were read.
final class ByteCounter: Sendable {
    private let count = Atomic(0)

    var byteCount: Int { count.load(ordering: .relaxed) }

    func add(_ count: Int) { self.count.add(count, ordering: .relaxed) }
}

private final class Reading: Sendable {
    typealias Next = @Sendable () async throws -> Data?

    /// SAFETY: belongs to one iterator, which is not Sendable.
    final class Box<Content>: @unchecked Sendable {
        var content: Content
        init(_ content: Content) { self.content = content }
    }

    let end = FutureStorage<(any Error)?>()
    let counter = ByteCounter()
    let makeNext: @Sendable () -> Next
    let isWoken: Bool
    private let onCancel: @Sendable () -> Void

    init(isWoken: Bool, onCancel: @escaping @Sendable () -> Void, _ makeNext: @escaping @Sendable () -> Next) {
        self.isWoken = isWoken
        self.onCancel = onCancel
        self.makeNext = makeNext
    }

    deinit {
        fail(with: CancellationError())
    }

    var failure: (any Error)? { end.peek() ?? nil }

    /// Waits for bytes in a Swift task that is cancelled when the stream fails.
    func wakeable(_ next: @escaping Next) async throws -> Data? {
        let waiting = Task { try await next() }
        let registration = end.upon(.immediate) { _ in waiting.cancel() }
        defer { registration.cancel() }
        return try await withTaskCancellationHandler {
            try await waiting.value
        } onCancel: {
            waiting.cancel()
        }
    }

    func checkFailure() throws {
        if let failure { throw failure }
    }

    func note(_ bytes: Data?) {
        if let bytes { counter.add(bytes.count) } else { finish(nil) }
    }

    func finish(_ error: (any Error)?) { _ = end.fill(with: error) }

    func fail(with error: any Error) {
        if end.fill(with: error) { onCancel() }
    }
}
