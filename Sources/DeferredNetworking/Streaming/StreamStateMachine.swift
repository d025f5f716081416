import Foundation

/// The bytes of a stream that came and were not read yet: some in memory, what goes beyond in a file.
///
/// What is in memory always comes before what is in the file: once there is something in the file, more goes there. The
/// file itself is somebody else's, who writes and reads it between two events, without a lock.
struct StreamStateMachine {
    enum Next {
        case bytes(Data)

        /// Bytes of this range of the file, to be told of by ``didRead(_:)``. Until then, others wait.
        case read(Range<Int64>)

        case end((any Error)?)
        case wait
    }

    /// How much may wait when more is asked for, and when no more is.
    struct Marks {
        let low: Int64
        let high: Int64

        /// - Parameter limit: the most that may wait, with the piece that is under way when the mark is reached.
        init(limit: Int) {
            let limit = Int64(max(0, limit))
            high = max(limit / 2, limit - pieceSize)
            low = high / 2
        }
    }

    /// How much comes at a time, and how much of the file is read at a time.
    private static let pieceSize: Int64 = 256 << 10

    /// What a connection brings at most after its sender was held up: what libcurl has read, and what was gathered of it.
    private static let mostUnderWay = 1 << 20

    private let memoryLimit: Int
    private let marks: Marks?
    private(set) var waitingCount: Int64 = 0

    /// Whether the sender is to be held up.
    private(set) var isFull = false

    private var chunks: [Data] = []
    private var firstChunk = 0
    private var memoryCount = 0

    /// What was written to the file and not read yet, what is being read included.
    private var spilled: Range<Int64> = 0..<0
    private var isReading = false

    /// Set when nothing more will come: nil inside for a whole body.
    private var end: (any Error)??

    /// - Parameter limit: how much may wait before the sender is held up; nil for any amount.
    init(memoryLimit: Int, limit: Int? = nil) {
        // A sender that is held up before the memory is full needs no file for what is still under way from it.
        let needsFile = limit.map { $0 > memoryLimit } ?? true
        self.memoryLimit = needsFile ? memoryLimit : min(memoryLimit, .max - Self.mostUnderWay) + Self.mostUnderWay
        marks = limit.map(Marks.init)
    }

    var hasEnded: Bool { end != nil }

    /// Whether nothing that is in the file is of use any longer.
    var isFileEmpty: Bool { spilled.isEmpty }

    /// Keeps bytes, or gives the offset in the file where they belong. Only one writer may be between that and
    /// ``didWrite(_:at:)``.
    mutating func append(_ bytes: Data) -> Int64? {
        guard !hasEnded, !bytes.isEmpty else { return nil }
        waitingCount += Int64(bytes.count)
        if let marks, waitingCount > marks.high { isFull = true }
        guard spilled.isEmpty, memoryCount + bytes.count <= memoryLimit else { return spilled.upperBound }
        chunks.append(bytes)
        memoryCount += bytes.count
        return nil
    }

    /// So many bytes are in the file at the offset that ``append(_:)`` gave.
    ///
    /// - Parameter offset: where that was: what was there before may have been read meanwhile.
    mutating func didWrite(_ count: Int, at offset: Int64) {
        // Nobody will read them.
        guard !hasEnded else { return }
        spilled = (spilled.isEmpty ? offset : spilled.lowerBound)..<offset + Int64(count)
    }

    /// The first end counts.
    mutating func finish(_ error: (any Error)?) {
        if !hasEnded {
            end = .some(error)
        }
    }

    /// What a reader gets now. An error comes after the bytes that came before it.
    mutating func next() -> Next {
        if firstChunk < chunks.count {
            let bytes = takeFirstChunk()
            took(bytes.count)
            return .bytes(bytes)
        }
        guard !isReading else { return .wait }
        guard spilled.isEmpty else {
            isReading = true
            return .read(spilled.lowerBound..<min(spilled.upperBound, spilled.lowerBound + Self.pieceSize))
        }
        return end.map { .end($0) } ?? .wait
    }

    /// Bytes from the front of the range that ``next()`` gave were read, or can't be.
    mutating func didRead(_ result: Result<Data, CocoaError>) {
        isReading = false
        // It may have been thrown away meanwhile.
        guard !spilled.isEmpty else { return }
        switch result {
        case .success(let bytes):
            took(bytes.count)
            let start = spilled.lowerBound + Int64(bytes.count)
            // The next bytes go into another file, and the space that this one takes is given back.
            spilled = start < spilled.upperBound ? start..<spilled.upperBound : 0..<0
        case .failure(let error):
            discard()
            end = .some(error)
        }
    }

    /// Throws away what nobody will read.
    mutating func discard() {
        chunks = []
        firstChunk = 0
        memoryCount = 0
        spilled = 0..<0
        (waitingCount, isFull) = (0, false)
        finish(CancellationError())
    }

    private mutating func took(_ count: Int) {
        waitingCount -= Int64(count)
        if let marks, waitingCount <= marks.low { isFull = false }
    }

    private mutating func takeFirstChunk() -> Data {
        let bytes = chunks[firstChunk]
        chunks[firstChunk] = Data()
        firstChunk += 1
        memoryCount -= bytes.count
        if firstChunk == chunks.count {
            chunks.removeAll(keepingCapacity: true)
            firstChunk = 0
        }
        return bytes
    }
}
