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

    private let memoryLimit: Int
    private var chunks: [Data] = []
    private var firstChunk = 0
    private var memoryCount = 0
    private var file: SpillFile?

    /// Set when nothing more will come: nil inside for a whole body.
    private var end: (any Error)??

    init(memoryLimit: Int) {
        self.memoryLimit = memoryLimit
    }

    var hasEnded: Bool { end != nil }

    mutating func append(_ bytes: Data) throws(CocoaError) {
        guard !hasEnded, !bytes.isEmpty else { return }
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
            return .bytes(takeFirstChunk())
        }
        guard hasFileContents else { return end.map { .end($0) } ?? .wait }
        do throws(CocoaError) {
            guard let bytes = try file?.takeFirst() else { return .wait }
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
        finish(CancellationError())
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
