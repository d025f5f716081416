#if os(Linux)
internal import DeferredCore
import Foundation

/// Gathers the bytes of a body into the pieces that are delivered: libcurl brings them in chunks of 16 KiB.
///
/// From its second large piece on, a body reuses the memory of those that nobody refers to any more: to get it from the
/// system for each piece, and to give it back, takes two thirds as long as to receive the bytes.
struct PieceBuffer: ~Copyable {
    /// The most bytes of a piece: callers take it before it would get more.
    static let size = 256 << 10

    private var data = Data()

    /// A buffer in place of ``data``, and how much of it is filled.
    private var buffer: UnsafeMutableRawPointer?
    private var filled = 0

    private var buffers: SparePieces?

    deinit {
        if let buffer { buffers?.give(buffer) }
        buffers?.close()
    }

    var count: Int { data.count + filled }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        if let buffers, data.isEmpty, filled + bytes.count <= Self.size {
            let buffer = buffer ?? buffers.take()
            (buffer + filled).copyMemory(from: start, byteCount: bytes.count)
            self.buffer = buffer
            filled += bytes.count
        } else {
            // Longer than what callers let become of a piece, or than libcurl's chunks were up to now.
            if filled > 0 { data = copyOfBuffer() }
            data.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        }
    }

    /// Takes what was gathered, which isn't empty.
    mutating func take() -> Data {
        guard filled > 0 else {
            if buffers == nil, data.count > Self.size / 2 { buffers = SparePieces() }
            defer { data = Data() }
            return data
        }
        // Whoever keeps a piece should not keep a buffer that is mostly empty.
        guard filled > Self.size / 2, let buffers, let buffer = buffer.take() else { return copyOfBuffer() }
        defer { filled = 0 }
        return Data(bytesNoCopy: buffer, count: filled, deallocator: .custom { buffer, _ in buffers.give(buffer) })
    }

    private mutating func copyOfBuffer() -> Data {
        defer { filled = 0 }
        return buffer.map { Data(bytes: $0, count: filled) } ?? Data()
    }
}

/// The buffers of one body, which come back when the pieces in them are gone.
private final class SparePieces: Sendable {
    /// SAFETY: whoever has one, or the list of spare ones, is alone with it.
    private struct Buffer: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
    }

    private struct State {
        var spare: [Buffer] = []
        var isClosed = false
    }

    /// The most spare buffers to keep, for pieces that wait, and one that is being read.
    private static let mostSpare = 3

    private let state = Lock(State())

    func take() -> UnsafeMutableRawPointer {
        state.withLock { $0.spare.popLast() }?.start ?? .allocate(byteCount: PieceBuffer.size, alignment: 16)
    }

    func give(_ start: UnsafeMutableRawPointer) {
        let buffer = Buffer(start: start)
        let isKept = state.withLock { state in
            guard !state.isClosed, state.spare.count < Self.mostSpare else { return false }
            state.spare.append(buffer)
            return true
        }
        if !isKept { start.deallocate() }
    }

    /// Frees the spare buffers; those of pieces that are still there are freed with them.
    func close() {
        let spare = state.withLock { state in
            state.isClosed = true
            defer { state.spare = [] }
            return state.spare
        }
        for buffer in spare { buffer.start.deallocate() }
    }
}
#endif
