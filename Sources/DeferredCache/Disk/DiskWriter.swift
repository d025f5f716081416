internal import DeferredCore
internal import Foundation

/// Writes a body into a new file, and sums up its blocks.
final class DiskWriter: BodyWriter {
    private struct State: Sendable {
        /// The bytes of the last block, until it is full, and the checksums of the others.
        var block = Data()
        var checksums: [UInt64] = []
        var count: Int64 = 0
        var isDiscarded = false
    }

    let version: UInt64
    private let folder: CacheFolder
    private let space: DiskSpace
    private let file: CacheFolder.File
    private let limit: Int64
    private let state = Lock(State())
    private let store: @Sendable (StoredHead, DiskWriter) -> Void

    /// - Parameter store: Commits the response.
    init?(
        _ folder: CacheFolder,
        _ space: DiskSpace,
        limit: Int64,
        _ store: @escaping @Sendable (StoredHead, DiskWriter) -> Void
    ) {
        version = .random(in: 1 ... .max)
        guard let file = folder.createFile(CacheFileName.body(version)) else { return nil }
        self.folder = folder
        self.space = space
        self.file = file
        self.limit = limit
        self.store = store
    }

    /// False if somebody has removed the file.
    var isThere: Bool { file.isThere }

    /// The checksums of all blocks.
    var checksums: [UInt64] {
        state.withLock { state in
            state.block.isEmpty ? state.checksums : state.checksums + [state.block.withUnsafeBytes(XXHash64.hash)]
        }
    }

    func append(_ bytes: Data) -> Bool {
        let (more, isAllowed) = state.withLock { state in
            let more = space.size(state.count + Int64(bytes.count)) - space.size(state.count)
            return (more, state.count + Int64(bytes.count) <= limit && !state.isDiscarded)
        }
        guard isAllowed, space.reserve(more) else { return false }
        state.withLock { $0.count += Int64(bytes.count) }
        defer { space.wrote(more) }
        guard bytes.withUnsafeBytes({ folder.append($0, to: file) }) else { return false }
        state.withLock { state in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = rest.prefix(Int(DiskBody.blockSize) - state.block.count)
                state.block += part
                rest = rest.dropFirst(part.count)
                if state.block.count == Int(DiskBody.blockSize) {
                    state.checksums.append(state.block.withUnsafeBytes(XXHash64.hash))
                    state.block.removeAll(keepingCapacity: true)
                }
            }
        }
        return true
    }

    func read(_ range: Range<Int64>) -> Data? {
        let blocks = DiskBody.blocks(with: range)
        // More may be in the file already than is summed up.
        var (count, checksums, last) = state.withLock { state in
            let whole = state.checksums.count
            return (
                Int64(whole) * DiskBody.blockSize + Int64(state.block.count),
                Array(state.checksums[min(blocks.lowerBound, whole)..<min(blocks.upperBound, whole)]),
                blocks.upperBound > whole ? state.block : nil
            )
        }
        if let last = last.take() { checksums.append(last.withUnsafeBytes(XXHash64.hash)) }
        let found = DiskBody.bytes(of: blocks, in: count, checksums) { folder.read($0, of: file) }
        return found.map { DiskBody.part(range, of: $0.bytes, from: $0.start) }
    }

    func commit(_ head: StoredHead) { store(head, self) }

    func discard() {
        let (count, isNew) = state.withLock { state in
            defer { state.isDiscarded = true }
            return (state.count, !state.isDiscarded)
        }
        if isNew { space.remove(space.size(count)) { folder.unlinkFile(CacheFileName.body(version)) } }
    }
}
