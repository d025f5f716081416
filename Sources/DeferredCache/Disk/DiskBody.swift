internal import DeferredCore
internal import DeferredNetworking
internal import Dispatch
internal import Foundation

/// A body in a file that never changes. Each block is checked before it is delivered.
final class DiskBody: StoredBody {
    static let blockSize: Int64 = 1 << 16

    private let folder: CacheFolder
    private let queue: DispatchQueue
    private let name: String
    private let count: Int64
    private let checksums: [UInt64]
    private let file = Lock(Opened())

    private struct Opened: Sendable {
        /// Kept open, so that the bytes stay readable when the file has been removed.
        var file: CacheFolder.File?
        /// All bytes of a body that is one block, instead: many may be kept.
        var bytes: Data?
        var failure: Failure?
    }

    /// The reason for which the file could not be opened.
    enum Failure: Sendable {
        /// It was not there: another process may have removed it, or this one.
        case hasVanished
        /// Too many files are open. This one has no fault.
        case lacksDescriptor
    }

    /// `nil` if the file could be opened.
    var failure: Failure? { file.withLock { $0.failure } }

    init(_ folder: CacheFolder, _ queue: DispatchQueue, _ version: UInt64, _ count: Int64, _ checksums: [UInt64]) {
        self.folder = folder
        self.queue = queue
        self.count = count
        self.checksums = checksums
        name = CacheFileName.body(version)
    }

    /// Opens the file; returns nil if it has vanished.
    private func open() -> CacheFolder.File? {
        if let file = file.withLock({ $0.file }) { return file }
        guard let opened = folder.openFile(name) else {
            let failure: Failure = [EMFILE, ENFILE].contains(errno) ? .lacksDescriptor : .hasVanished
            file.withLock { $0.failure = failure }
            return nil
        }
        let isWhole = folder.status(of: opened)?.size == count
        file.withLock { ($0.file, $0.failure) = (isWhole ? opened : nil, nil) }
        return isWhole ? opened : nil
    }

    var bytesInMemory: Data? { file.withLock { $0.bytes } }

    func read(_ range: Range<Int64>, _ body: @escaping @Sendable (Data?) -> Void) {
        queue.async { body(self.bytes(range)) }
    }

    func copy(to file: URL, _ body: @escaping @Sendable (CopyEnd) -> Void) {
        queue.async { body(self.copy(to: file)) }
    }

    /// Returns bytes of the blocks that are checked; nil if they are damaged or missing.
    private func bytes(_ range: Range<Int64>) -> Data? {
        guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
        // No block is read, so that nothing is there to be kept as all bytes.
        if range.isEmpty { return Data() }
        if let bytes = bytesInMemory { return Self.part(range, of: bytes, from: 0) }
        let blocks = Self.blocks(with: range)
        guard blocks.upperBound <= checksums.count, let file = open(),
            let (bytes, start) = Self.bytes(of: blocks, in: count, checksums[blocks], { folder.read($0, of: file) })
        else { return nil }
        if count <= Self.blockSize { self.file.withLock { $0 = Opened(bytes: bytes) } }
        return Self.part(range, of: bytes, from: start)
    }

    /// The blocks that have bytes of a range, which is not empty.
    static func blocks(with range: Range<Int64>) -> Range<Int> {
        Int(range.lowerBound / blockSize)..<Int((range.upperBound + blockSize - 1) / blockSize)
    }

    /// Returns the bytes of some blocks, and the position of the first; nil if they are damaged or missing.
    ///
    /// - Parameters:
    ///   - count: The length of the body.
    ///   - checksums: Those of the blocks.
    static func bytes(
        of blocks: Range<Int>,
        in count: Int64,
        _ checksums: some Collection<UInt64>,
        _ read: (Range<Int64>) -> Data?
    ) -> (bytes: Data, start: Int64)? {
        let start = Int64(blocks.lowerBound) * blockSize
        guard checksums.count == blocks.count,
            let bytes = read(start..<min(Int64(blocks.upperBound) * blockSize, count))
        else { return nil }
        let isWhole = bytes.withUnsafeBytes { buffer in
            zip(stride(from: 0, to: buffer.count, by: Int(blockSize)), checksums).allSatisfy { first, checksum in
                let last = min(first + Int(blockSize), buffer.count)
                return checksum == XXHash64.hash(UnsafeRawBufferPointer(rebasing: buffer[first..<last]))
            }
        }
        return isWhole ? (bytes, start) : nil
    }

    /// - Parameter start: The position of the first byte.
    static func part(_ range: Range<Int64>, of bytes: Data, from start: Int64) -> Data {
        range == start..<start + Int64(bytes.count)
            ? bytes : bytes.subdata(in: Int(range.lowerBound - start)..<Int(range.upperBound - start))
    }

    /// Writes all bytes into a new file next to the destination, which it then replaces.
    ///
    /// Where the file system can, the new file shares the blocks on disk of the stored one. They are read nevertheless,
    /// since only what is checked is delivered.
    private func copy(to file: URL) -> CopyEnd {
        // Without the destination's name, which may be as long as a name can be.
        let temporary = file.deletingLastPathComponent().appending(path: ".\(CacheFileName.temporary())")
        var end = CopyEnd.unwritable
        defer { if end != .copied { try? FileManager.default.removeItem(at: temporary) } }
        guard FileManager.default.createFile(atPath: temporary.path, contents: nil),
            let handle = POSIXFile.handle(temporary.path, O_WRONLY)
        else { return end }
        end = .copied
        let source = count > Self.blockSize ? open() : nil
        let isCloned = source.map { POSIXFile.clone($0.descriptor, to: handle.fileDescriptor) } ?? false
        for start in stride(from: 0, to: count, by: Int64.Stride(Self.blockSize * 16)) where end == .copied {
            if let piece = bytes(start..<min(start + Self.blockSize * 16, count)) {
                if !isCloned, (try? handle.write(contentsOf: piece)) == nil { end = .unwritable }
            } else {
                end = .damaged
            }
        }
        try? handle.close()
        if end == .copied, rename(temporary.path, file.path) != 0 { end = .unwritable }
        return end
    }
}
