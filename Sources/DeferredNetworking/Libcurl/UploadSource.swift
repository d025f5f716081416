#if os(Linux)
internal import DeferredCore
import Dispatch
import Foundation
import FoundationNetworking

/// A source of a request's body while it is sent.
protocol UploadSource: AnyObject {
    /// The length of the body, or nil if it isn't known in advance.
    var length: Int64? { get }

    /// The fields behind the body, once all of it was read.
    var trailers: HTTPHeaders { get }

    /// Fills the front of `buffer`, or returns the reason why it can't. Never blocks.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead

    /// Goes back to the beginning and returns true, or returns false if that isn't possible.
    func rewind() -> Bool
}

extension UploadSource {
    var trailers: HTTPHeaders { [:] }
}

enum UploadRead {
    /// The number of bytes read; zero at the end.
    case bytes(Int)

    /// Nothing is available yet. The source reports when there is more.
    case notYet

    case failed(any Error)
}

/// A body in memory.
final class DataUploadSource: UploadSource {
    private let data: Data
    private var offset: Int

    var length: Int64? { Int64(data.count) }

    init(_ data: Data) {
        self.data = data
        offset = data.startIndex
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
        let count = min(buffer.count, data.endIndex - offset)
        data.copyBytes(to: buffer, from: offset..<offset + count)
        offset += count
        return .bytes(count)
    }

    func rewind() -> Bool {
        offset = data.startIndex
        return true
    }
}

/// A body from a file or a stream, both of which may block: a serial queue reads it ahead.
final class QueuedUploadSource: UploadSource {
    /// Opens the body again from its beginning.
    typealias Open = @Sendable () -> StreamReader

    let length: Int64?
    private let open: Open?
    private let onReady: @Sendable () -> Void
    private var pipe: UploadPipe
    private var sent: Int64 = 0

    /// The chunk that is being sent.
    private var piece = Data()
    private var offset = 0

    /// - Parameters:
    ///   - reopens: whether `open` can be called more than once.
    ///   - onReady: called on another thread when there is more after ``UploadRead/notYet``.
    init(length: Int64?, reopens: Bool, open: @escaping Open, onReady: @escaping @Sendable () -> Void) {
        self.length = length
        self.open = reopens ? open : nil
        self.onReady = onReady
        pipe = UploadPipe(open, onReady: onReady)
        pipe.fill()
    }

    deinit {
        pipe.stop()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
        if offset == piece.count {
            switch pipe.take() {
            case .none: return .notYet
            case .failure(let error)?: return .failed(error)
            case .success(let next)?:
                guard !next.isEmpty else { return end() }
                piece = next
                offset = 0
            }
        }
        var room = min(buffer.count, piece.count - offset)
        // A file that has grown meanwhile is cut at the announced length.
        if let length { room = Int(min(Int64(room), length - sent)) }
        piece.copyBytes(to: buffer, from: piece.startIndex + offset..<piece.startIndex + offset + room)
        offset += room
        sent += Int64(room)
        return .bytes(room)
    }

    private func end() -> UploadRead {
        if let length, sent < length {
            return .failed(
                URLError(
                    .cannotDecodeRawData,
                    failing: nil,
                    description: "The file ended after \(sent) of \(length) bytes"
                )
            )
        }
        return .bytes(0)
    }

    func rewind() -> Bool {
        if sent == 0 { return true }
        guard let open else { return false }
        pipe.stop()
        pipe = UploadPipe(open, onReady: onReady)
        pipe.fill()
        (piece, offset, sent) = (Data(), 0, 0)
        return true
    }
}

/// Passes chunks from the queue that reads them to the thread that sends them.
///
/// SAFETY: the reader is created, used and released only on the serial queue; all other state is behind the lock.
private final class UploadPipe: @unchecked Sendable {
    private static let pieceSize = 256 << 10
    private static let mostPieces = 2

    private struct State {
        var pieces: [Result<Data, any Error>] = []
        var isReading = false
        var isAwaited = false
        var hasEnded = false
    }

    private let queue = DispatchQueue(label: "Deferred.upload", qos: .userInitiated)
    private let state = Lock(State())
    private let open: QueuedUploadSource.Open
    private let onReady: @Sendable () -> Void
    private var reader: StreamReader?

    init(_ open: @escaping QueuedUploadSource.Open, onReady: @escaping @Sendable () -> Void) {
        self.open = open
        self.onReady = onReady
    }

    /// Reads ahead, unless enough chunks are waiting.
    func fill() {
        let mustRead = state.withLock { state in
            guard !state.hasEnded, !state.isReading, state.pieces.count < Self.mostPieces else { return false }
            state.isReading = true
            return true
        }
        if mustRead {
            queue.async { self.read() }
        }
    }

    private func read() {
        guard !state.withLock({ $0.hasEnded }) else { return }
        let piece: Result<Data, any Error>
        do {
            let reader = self.reader ?? open()
            self.reader = reader
            piece = .success(try reader.read(upTo: Self.pieceSize))
        } catch {
            piece = .failure(error)
        }
        let isAwaited = state.withLock { state in
            defer { state.isAwaited = false }
            state.isReading = false
            guard !state.hasEnded else { return false }
            state.pieces.append(piece)
            if case .success(let bytes) = piece, !bytes.isEmpty { return state.isAwaited }
            state.hasEnded = true
            return state.isAwaited
        }
        if state.withLock({ $0.hasEnded }) { reader = nil }
        if isAwaited { onReady() }
        fill()
    }

    /// Returns the next chunk, an empty one at the end, or nil if it isn't available yet.
    func take() -> Result<Data, any Error>? {
        let piece = state.withLock { state -> Result<Data, any Error>? in
            guard !state.pieces.isEmpty else {
                guard !state.hasEnded else { return .success(Data()) }
                state.isAwaited = true
                return nil
            }
            return state.pieces.removeFirst()
        }
        fill()
        return piece
    }

    /// Stops reading, because no more chunks are needed.
    func stop() {
        state.withLock { state in
            state.hasEnded = true
            state.pieces = []
        }
        queue.async { self.reader = nil }
    }
}

/// Reads a stream, which may block.
final class StreamReader {
    private let stream: InputStream
    private let url: URL
    private var isOpen = false

    /// - Parameter url: the URL of the request, for errors.
    init(_ stream: InputStream, of url: URL) {
        self.stream = stream
        self.url = url
    }

    deinit {
        if isOpen { stream.close() }
    }

    /// Returns the next bytes; none at the end.
    func read(upTo count: Int) throws -> Data {
        if !isOpen {
            if let error = BodyStreams.error(before: stream, of: url) { throw error }
            stream.open()
            isOpen = true
        }
        var bytes = Data(count: count)
        // `open` may have failed.
        guard stream.streamStatus != .error else { throw BodyStreams.failure(of: stream, url) }
        let result = bytes.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { stream.read($0.assumingMemoryBound(to: UInt8.self), maxLength: count) } ?? 0
        }
        guard result >= 0 else { throw BodyStreams.failure(of: stream, url) }
        return result == count ? bytes : bytes.prefix(result)
    }
}
#endif
