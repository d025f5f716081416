#if os(Linux)
internal import DeferredCore
import Foundation

/// A body from an asynchronous sequence, whose next bytes are made while the last ones are sent.
final class StreamedUploadSource: UploadSource {
    var length: Int64? { body.length }

    private let body: StreamedBody
    private let onReady: @Sendable () -> Void
    private var feed: UploadFeed

    /// The bytes that are being sent.
    private var piece = Data()
    private var sent: Int64 = 0
    private(set) var trailers: HTTPHeaders = [:]

    /// - Parameter onReady: Called on another thread when there is more after ``UploadRead/notYet``.
    init(_ body: StreamedBody, onReady: @escaping @Sendable () -> Void) {
        self.body = body
        self.onReady = onReady
        feed = UploadFeed(body, onReady: onReady)
    }

    deinit {
        feed.stop()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
        while piece.isEmpty {
            switch feed.take() {
            case .bytes(let bytes): piece = bytes
            case .end(let trailers): return end(trailers)
            case .failed(let error): return .failed(body.mapError(error))
            case nil: return .notYet
            }
        }
        var count = min(buffer.count, piece.count)
        if let length {
            let rest = length - sent
            guard piece.count <= rest else { return .failed(body.wrongLength(nil)) }
            // libcurl asks for no more than were announced. So the last byte waits until it is known that none follows.
            if count == rest {
                switch feed.peek() {
                case .bytes: return .failed(body.wrongLength(nil))
                case .failed(let error): return .failed(body.mapError(error))
                case .end: break
                case nil:
                    guard count > 1 else { return .notYet }
                    count -= 1
                }
            }
        }
        piece.copyBytes(to: buffer, count: count)
        // A slice, which leaves the bytes where they are.
        piece = piece.dropFirst(count)
        sent += Int64(count)
        return .bytes(count)
    }

    private func end(_ trailers: HTTPHeaders) -> UploadRead {
        self.trailers = trailers
        guard let length, sent < length else { return .bytes(0) }
        return .failed(body.wrongLength(sent))
    }

    func rewind() -> Bool {
        if sent == 0 { return true }
        guard !body.isOneShot else { return false }
        feed.stop()
        feed = UploadFeed(body, onReady: onReady)
        (piece, sent) = (Data(), 0)
        return true
    }
}

/// Passes bytes of a body from the Swift task that takes them from the sequence to the thread that sends them.
private final class UploadFeed: Sendable {
    enum Item {
        case bytes(Data)
        case end(trailers: HTTPHeaders)
        case failed(any Error)
    }

    /// The number of waiting bytes above which the producer waits.
    private static let enough = 64 << 10

    private struct State {
        var bytes = Data()

        /// The end, which comes behind the bytes.
        var end: Item?

        /// True if the sender found nothing, and is to be told when there is something.
        var isAwaited = false
        var isStopped = false

        /// The Swift task that takes the bytes from the sequence, and makes the trailers.
        var running: _Concurrency.Task<Void, Never>?

        /// The producer, while it waits for room.
        var producer: CheckedContinuation<Void, Never>?

        var next: Item? { bytes.isEmpty ? end : .bytes(bytes) }

        mutating func noteNext() -> Item? {
            if next == nil { isAwaited = true }
            return next
        }
    }

    private let state = Lock(State())
    private let stream: HTTPBodyStream
    private let trailers: HTTPTrailers?
    private let onReady: @Sendable () -> Void

    init(_ body: StreamedBody, onReady: @escaping @Sendable () -> Void) {
        stream = body.open()
        trailers = body.trailers
        self.onReady = onReady
        let running = _Concurrency.Task { await self.run() }
        state.withLock { $0.running = running }
    }

    private func run() async {
        do {
            for try await bytes in stream {
                put { $0.bytes.isEmpty ? $0.bytes = bytes : $0.bytes.append(bytes) }
                await waitForRoom()
            }
            let fields = try await trailers?.fields() ?? [:]
            put { $0.end = .end(trailers: fields) }
        } catch {
            put { $0.end = .failed(error) }
        }
    }

    private func put(_ change: (inout State) -> Void) {
        let isAwaited = state.withLock { state in
            guard !state.isStopped else { return false }
            change(&state)
            guard state.isAwaited, state.next != nil else { return false }
            state.isAwaited = false
            return true
        }
        if isAwaited { onReady() }
    }

    /// Waits until the sender has taken the bytes, if they are enough, or needs no more.
    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                if state.isStopped || state.bytes.count < Self.enough { return true }
                state.producer = continuation
                return false
            }
            if mayGoOn { continuation.resume() }
        }
    }

    /// Returns the next item, and takes it, unless it is the end. If there is none yet, ``onReady`` will tell.
    func take() -> Item? {
        let (item, producer) = state.withLock { state in
            let item = state.noteNext()
            state.bytes = Data()
            return (item, state.producer.take())
        }
        producer?.resume()
        return item
    }

    /// Returns the next item. If there is none yet, ``onReady`` will tell.
    func peek() -> Item? { state.withLock { $0.noteNext() } }

    /// Cancels the producer: no more bytes are needed.
    func stop() {
        let (running, producer) = state.withLock { state in
            state.isStopped = true
            return (state.running.take(), state.producer.take())
        }
        running?.cancel()
        stream.cancel()
        producer?.resume()
    }
}
#endif
