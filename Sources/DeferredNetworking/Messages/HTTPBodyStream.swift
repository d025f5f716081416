internal import DeferredCore
public import Foundation
internal import Synchronization

/// A response's body that is read as it arrives.
///
/// ```swift
/// let response = try await client.stream(url).get()
/// for try await bytes in response.body {
///     hash.update(bytes)
/// }
/// ```
///
/// The pieces are those in which the bytes arrive, of a client at most 256 KiB each and never empty. The request ends when
/// the head has arrived. The transfer is cancelled by ``cancel()``, and when the stream and its iterators are released; in
/// a chain, also by a reset, and the request's place in a `Throttle` becomes free when the body has ended.
///
/// The body can be read once: several iterators share its bytes. If the transfer fails, reading throws its error after the
/// bytes that arrived before, in a chain as an `HTTPError`. It throws `CancellationError` when the reading Swift task or
/// the stream was cancelled.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    private let reading: Reading

    /// The bytes of a client's response, for ``waitingCount``.
    private let buffer: StreamBuffer?
    private let lastTrailers: @Sendable () -> HTTPHeaders

    /// Creates a stream, for a custom terminal loader.
    ///
    /// - Parameters:
    ///   - bytes: The body. Kept until the stream is released. If it ends without an error in a Swift task that was
    ///     cancelled, it may be cut off, so that the stream is cancelled.
    ///   - onCancel: Stops the transfer. Called at most once, and not when the body was read to its end. A reader that
    ///     waits for bytes meanwhile is woken by cancelling the Swift task in which it waits for the sequence.
    ///   - trailers: Returns the fields that came behind the bytes, when these have been read.
    public init<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        onCancel: @escaping @Sendable () -> Void = {},
        trailers: @escaping @Sendable () -> HTTPHeaders = { [:] }
    ) where Bytes.Element == Data {
        self.init(bytes, isWoken: false, onCancel: onCancel, trailers: trailers, mapError: { $0 })
    }

    /// - Parameter isWoken: True if `onCancel` ends a reader's wait for bytes.
    package init<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        isWoken: Bool,
        onCancel: @escaping @Sendable () -> Void,
        trailers: @escaping @Sendable () -> HTTPHeaders,
        mapError: @escaping @Sendable (any Error) -> any Error
    ) where Bytes.Element == Data {
        buffer = nil
        lastTrailers = trailers
        reading = Reading(isWoken: isWoken, onCancel: onCancel) {
            let iterator = Reading.Box(bytes.makeAsyncIterator())
            return {
                do { return try await iterator.content.next() } catch { throw mapError(error) }
            }
        }
    }

    /// Creates the stream of a transfer's bytes.
    init(_ buffer: StreamBuffer, onCancel: @escaping @Sendable () -> Void) {
        self.buffer = buffer
        lastTrailers = { buffer.trailers }
        let cancel: @Sendable () -> Void = {
            buffer.discard()
            onCancel()
        }
        reading = Reading(isWoken: true, onCancel: cancel) { { try await buffer.next() } }
    }

    /// The number of bytes that were received but not read yet, for tests of back pressure.
    var waitingCount: Int64 { buffer?.waitingCount ?? 0 }

    /// The fields that came behind the body, once it was read to its end; none before.
    ///
    /// ```swift
    /// for try await bytes in response.body { hash.update(bytes) }
    /// guard response.body.trailers["Content-MD5"] == hash.value else { throw Damaged() }
    /// ```
    ///
    /// See ``ResponseHead/trailers``.
    public var trailers: HTTPHeaders { reading.isWhole ? lastTrailers() : [:] }

    /// A body without bytes.
    public static var empty: HTTPBodyStream { HTTPBodyStream(AsyncStream<Data> { $0.finish() }) }

    /// Returns an iterator that starts at the first unread bytes.
    public func makeAsyncIterator() -> Iterator { Iterator(reading) }

    /// Ends the transfer, if it hasn't ended, and discards the unread bytes.
    public func cancel() { fail(with: CancellationError()) }

    /// Reads all unread bytes.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Throws: The errors of reading, and ``URLClientError/Code/bodyTooLarge(limit:)``, which cancels the transfer.
    public func collect(upTo limit: Int = 64 << 20) async throws -> Data {
        var result = Data()
        for try await bytes in self {
            guard bytes.count <= limit - result.count else {
                cancel()
                throw URLClientError.bodyTooLarge(limit: Int64(limit))
            }
            result += bytes
        }
        return result
    }

    /// Makes readers throw `error`, and stops the transfer.
    package func fail(with error: any Error) { reading.fail(with: error) }

    /// A weak reference, which doesn't keep the transfer going when the stream is released.
    package var weak: WeakStream { WeakStream(reading) }

    /// Calls `handler` when the body has ended, with the number of bytes read; the error is `nil` if those are all.
    package func addEndHandler(_ handler: @escaping @Sendable ((error: (any Error)?, byteCount: Int)) -> Void) {
        reading.end.upon(.immediate, handler)
    }

    /// Reads a body.
    public struct Iterator: AsyncIteratorProtocol {
        private let reading: Reading
        private let nextPiece: Reading.Next

        /// True while the sequence is asked for bytes, which it is told of if nobody wants them any more, and at its end.
        private var isTold = false

        fileprivate init(_ reading: Reading) {
            self.reading = reading
            nextPiece = reading.makeNext()
        }

        /// Returns the next bytes, or `nil` at the end.
        public mutating func next() async throws -> Data? {
            do {
                if let failure = reading.failure { throw failure }
                isTold = true
                let bytes = try await (reading.isWoken ? nextPiece() : reading.wakeable(nextPiece))
                isTold = bytes == nil
                // Many sequences end without an error when their reader is cancelled, so that this may not be all.
                if bytes == nil, !reading.isWoken, _Concurrency.Task.isCancelled {
                    reading.fail(with: CancellationError())
                }
                // Bytes that arrived after a failure are discarded.
                if let failure = reading.failure { throw failure }
                if let bytes { reading.note(bytes.count) } else { reading.finish(nil) }
                return bytes
            } catch {
                if !isTold { reading.tell(nextPiece) }
                isTold = true
                let failure = reading.failure ?? error
                // A reader that was cancelled leaves the rest to other readers.
                if !(failure is CancellationError) { reading.finish(failure) }
                throw failure
            }
        }
    }
}

/// A weak reference to a stream, by which it can be cancelled.
package struct WeakStream: Sendable {
    fileprivate weak var reading: Reading?

    package init() {}

    fileprivate init(_ reading: Reading) {
        self.reading = reading
    }

    package func cancel() { fail(with: CancellationError()) }

    package func fail(with error: any Error) { reading?.fail(with: error) }
}

private final class Reading: Sendable {
    typealias Next = @Sendable () async throws -> Data?

    /// SAFETY: belongs to one iterator, which is not Sendable.
    final class Box<Content>: @unchecked Sendable {
        var content: Content
        init(_ content: Content) { self.content = content }
    }

    let end = FutureStorage<(error: (any Error)?, byteCount: Int)>()
    private let byteCount = Atomic(0)
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

    var failure: (any Error)? { end.peek()?.error }

    /// True once all of the bytes were read.
    var isWhole: Bool { end.peek().map { $0.error == nil } ?? false }

    /// Waits for bytes in a Swift task that is cancelled when the stream fails.
    func wakeable(_ next: @escaping Next) async throws -> Data? {
        // A reader that was cancelled before takes nothing.
        let isCancelled = _Concurrency.Task.isCancelled
        let waiting = _Concurrency.Task {
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

    /// Lets the caller's sequence know that nobody reads on, as `for await` does in a Swift task that was cancelled between
    /// two pieces: by asking it once more.
    func tell(_ next: @escaping Next) {
        guard !isWoken else { return }
        _Concurrency.Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try? await next()
        }
    }

    func note(_ count: Int) { byteCount.add(count, ordering: .relaxed) }

    @discardableResult
    func finish(_ error: (any Error)?) -> Bool {
        end.fill(with: (error: error, byteCount: byteCount.load(ordering: .relaxed)))
    }

    func fail(with error: any Error) {
        if finish(error) { onCancel() }
    }
}
