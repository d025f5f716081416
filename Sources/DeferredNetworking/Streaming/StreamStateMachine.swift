import Foundation

/// The bytes of a stream that came and were not read yet: some in memory, what goes beyond in a file.
///
/// What is in memory always comes before what is in the file: once there is a file with bytes in it, more go there.
struct StreamStateMachine: ~Copyable {
    enum Next {
        case bytes(Data)
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
            high = max(limit / 2, limit - Self.piece)
            low = high / 2
        }

        private static let piece: Int64 = 256 << 10
    }

    private let memoryLimit: Int
    private let marks: Marks?
    private(set) var waitingCount: Int64 = 0

    /// Whether the sender is to be held up.
    private(set) var isFull = false

    private var chunks: [Data] = []
    private var firstChunk = 0
    private var memoryCount = 0
    private var file: SpillFile?

    /// Set when nothing more will come: nil inside for a whole body.
    private var end: (any Error)??

    /// - Parameter limit: how much may wait before the sender is held up; nil for any amount.
    init(memoryLimit: Int, limit: Int? = nil) {
        self.memoryLimit = memoryLimit
        marks = limit.map(Marks.init)
    }

    var hasEnded: Bool { end != nil }

    mutating func append(_ bytes: Data) throws(CocoaError) {
        guard !hasEnded, !bytes.isEmpty else { return }
        waitingCount += Int64(bytes.count)
        if let marks, waitingCount > marks.high { isFull = true }
        if hasFileContents || memoryCount + bytes.count > memoryLimit {
            if file == nil {
                file = try SpillFile()
            }
            try file?.append(bytes)
        } else {
            chunks.append(bytes)
            memoryCount += bytes.count
        }
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
        guard hasFileContents else { return end.map { .end($0) } ?? .wait }
        do throws(CocoaError) {
            guard let bytes = try file?.takeFirst() else { return .wait }
            took(bytes.count)
            return .bytes(bytes)
        } catch {
            return .end(error)
        }
    }

    /// Throws away what nobody will read.
    mutating func discard() {
        chunks = []
        firstChunk = 0
        memoryCount = 0
        file = nil
        (waitingCount, isFull) = (0, false)
        finish(CancellationError())
    }

    private mutating func took(_ count: Int) {
        waitingCount -= Int64(count)
        if let marks, waitingCount <= marks.low { isFull = false }
    }

    private var hasFileContents: Bool {
        switch file {
        case .some(let file): !file.isEmpty
        case .none: false
        }
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
