internal import DeferredCore
import Foundation

/// The received but unread bytes of a stream: in memory up to a limit, and beyond it in a file.
///
/// Bytes in memory always precede those in the file: while the file has bytes, new ones go there, too. The machine
/// doesn't touch the file itself: its owner writes and reads it between two events, outside of the lock.
struct StreamStateMachine {
    enum Next {
        case bytes(Data)

        /// Read bytes of this range of the file, and report them with ``didRead(_:)``. Until then, other readers wait.
        case read(Range<Int64>)

        case end((any Error)?)
    }

    /// The maximum size of a chunk that arrives or is read from the file, in bytes.
    private static let pieceSize: Int64 = 256 << 10

    /// The most bytes that arrive after the sender was paused: those that libcurl has read, and those gathered for
    /// delivery.
    private static let mostUnderWay = 1 << 20

    private let memoryLimit: Int

    /// The high watermark: the sender pauses above it, and resumes at half of it.
    private let mark: Int64
    private(set) var waitingCount: Int64 = 0

    /// True while the sender should pause.
    private(set) var isFull = false

    private var chunks = Queue<Data>()
    private var memoryCount = 0

    /// The range of the file that is written and not yet read, including the part that is being read.
    private var overflow: Range<Int64> = 0..<0
    private var isReading = false

    /// Set when nothing more will arrive; the inner value is nil for a complete body.
    private var end: (any Error)??

    /// - Parameter limit: the number of bytes above which the sender pauses; nil for no limit.
    init(memoryLimit: Int, limit: Int? = nil) {
        // A sender that pauses before the memory is full needs no file: memory also takes the bytes still on their way.
        let needsFile = limit.map { $0 > memoryLimit } ?? true
        self.memoryLimit = needsFile ? memoryLimit : min(memoryLimit, .max - Self.mostUnderWay) + Self.mostUnderWay
        mark = limit.map { Self.mark(limit: $0) } ?? .max
    }

    /// - Parameter limit: the most bytes that may wait, including the chunk that arrives when the mark is reached.
    static func mark(limit: Int) -> Int64 {
        let limit = Int64(max(0, limit))
        return max(limit / 2, limit - pieceSize)
    }

    var hasEnded: Bool { end != nil }

    /// True when the file's contents are no longer needed.
    var isFileEmpty: Bool { overflow.isEmpty }

    /// Keeps bytes in memory, or returns the offset in the file at which to write them. Only one writer may be between
    /// this call and ``didWrite(_:at:)``.
    mutating func append(_ bytes: Data) -> Int64? {
        guard !hasEnded, !bytes.isEmpty else { return nil }
        waitingCount += Int64(bytes.count)
        if waitingCount > mark { isFull = true }
        guard overflow.isEmpty, memoryCount + bytes.count <= memoryLimit else { return overflow.upperBound }
        chunks.append(bytes)
        memoryCount += bytes.count
        return nil
    }

    /// Records that bytes were written to the file at the offset that ``append(_:)`` returned.
    ///
    /// - Parameter offset: the start of the bytes; those before it may have been read meanwhile.
    mutating func didWrite(_ count: Int, at offset: Int64) {
        // The stream was discarded, or has failed.
        guard !hasEnded else { return }
        overflow = (overflow.isEmpty ? offset : overflow.lowerBound)..<offset + Int64(count)
    }

    /// Ends the stream. Only the first call counts.
    mutating func finish(_ error: (any Error)?) {
        if !hasEnded {
            end = .some(error)
        }
    }

    /// Returns the next step for a reader, or nil if it has to wait. An error comes after the bytes received before it.
    mutating func next() -> Next? {
        if let bytes = chunks.popFirst() {
            memoryCount -= bytes.count
            took(bytes.count)
            return .bytes(bytes)
        }
        guard !isReading else { return nil }
        guard overflow.isEmpty else {
            isReading = true
            return .read(overflow.lowerBound..<min(overflow.upperBound, overflow.lowerBound + Self.pieceSize))
        }
        return end.map { .end($0) }
    }

    /// Handles the result of reading from the front of the range that ``next()`` returned.
    mutating func didRead(_ result: Result<Data, CocoaError>) {
        isReading = false
        // The stream may have been discarded meanwhile.
        guard !overflow.isEmpty else { return }
        switch result {
        case .success(let bytes):
            took(bytes.count)
            let start = overflow.lowerBound + Int64(bytes.count)
            // Once the file is empty, the next bytes go into a new one, and the disk space of this one is freed.
            overflow = start < overflow.upperBound ? start..<overflow.upperBound : 0..<0
        case .failure(let error):
            discard()
            end = .some(error)
        }
    }

    /// Discards all bytes that are not read yet.
    mutating func discard() {
        chunks = Queue()
        memoryCount = 0
        overflow = 0..<0
        (waitingCount, isFull) = (0, false)
        finish(CancellationError())
    }

    private mutating func took(_ count: Int) {
        waitingCount -= Int64(count)
        if waitingCount <= mark / 2 { isFull = false }
    }
}
