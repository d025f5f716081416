internal import DeferredCore
public import Foundation
internal import Synchronization

/// A response's body that is read as it arrives.
///
/// ```swift
/// request.delivery = .stream
/// let response = try await chain.load(request).get()
/// for try await bytes in response.stream ?? .empty {
///     hash.update(bytes)
/// }
/// ```
///
/// The request completes when the head has arrived, and its place in a ``Throttle`` becomes free when the body has
/// ended. The transfer is cancelled by ``cancel()``, by a reset, and when the stream and its iterators are released.
///
/// The body can be read once. If the transfer fails, reading throws an ``HTTPError`` after the bytes that arrived
/// before. It throws `CancellationError` when the reading Swift task or the stream was cancelled.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    private let reading: Reading

    /// Creates a stream, for a custom terminal loader.
    ///
    /// - Parameters:
    ///   - bytes: The body. Kept until the stream is released.
    ///   - onCancel: Stops the transfer. Called at most once, and not when the body was read to its end. A reader that
    ///     waits for bytes meanwhile is woken by cancelling the Swift task in which it waits for the sequence.
    public init<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        onCancel: @escaping @Sendable () -> Void = {}
    ) where Bytes.Element == Data {
        self.init(bytes, isWoken: false, onCancel: onCancel, mapError: { $0 })
    }

    /// - Parameter isWoken: True if `onCancel` ends a reader's wait for bytes.
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

    /// Returns an iterator that starts at the first unread bytes.
    public func makeAsyncIterator() -> Iterator { Iterator(reading) }

    /// Ends the transfer, if it hasn't ended, and discards the unread bytes.
    public func cancel() { fail(with: CancellationError()) }

    /// Reads all unread bytes.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Throws: The errors of reading, and ``HTTPBodyStream/TooLarge``, which cancels the transfer.
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

    /// Makes readers throw `error`, and stops the transfer.
    func fail(with error: any Error) { reading.fail(with: error) }

    /// A weak reference, which doesn't keep the transfer going when the stream is released.
    var weak: WeakStream { WeakStream(reading: reading) }

    /// Calls `handler` when the body has ended; the error is `nil` if it was read completely.
    func addEndHandler(_ handler: @escaping @Sendable ((any Error)?) -> Void) {
        reading.end.upon(.immediate, handler)
    }

    /// The counter of the bytes read, which doesn't retain the stream.
    var counter: ByteCounter { reading.counter }

    /// The error of a body with more bytes than are allowed.
    public struct TooLarge: Error, CustomStringConvertible {
        /// The maximum number of bytes.
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

        /// Returns the next bytes, or `nil` at the end.
        public mutating func next() async throws -> Data? {
            try reading.checkFailure()
            do {
                let bytes = try await (reading.isWoken ? nextPiece() : reading.wakeable(nextPiece))
                // Bytes that arrived after a failure are discarded.
                try reading.checkFailure()
                reading.note(bytes)
                return bytes
            } catch {
                let failure = reading.failure ?? error
                // A reader that was cancelled leaves the rest to other readers.
                if !(failure is CancellationError) { reading.finish(failure) }
                throw failure
            }
        }
    }
}

/// A weak reference to a stream, by which it can be cancelled.
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
        // A reader that was cancelled before takes nothing.
        let isCancelled = Task.isCancelled
        let waiting = Task {
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            return try await next()
        }
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
