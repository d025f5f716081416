#if os(Linux)
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("PieceBuffer", .ownThread, .timeLimit(.minutes(1)))
struct PieceBufferTests {
    /// Bytes of which each differs from its neighbours, and each piece from the next.
    private static func pattern(_ count: Int, from start: Int = 0) -> Data {
        Data((start..<start + count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    }

    private static func address(of data: Data) -> UInt {
        data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    /// Gathers `bytes` in chunks, and takes the piece.
    private static func piece(_ bytes: Data, in chunk: Int = 16 << 10, from pieceBuffer: inout PieceBuffer) -> Data {
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            bytes[start..<min(start + chunk, bytes.count)].withUnsafeBytes { pieceBuffer.append($0) }
        }
        let (before, piece, after) = (pieceBuffer.count, pieceBuffer.take(), pieceBuffer.count)
        #expect(before == bytes.count && after == 0)
        return piece
    }

    @Test(arguments: [1, 1_000, 16 << 10, 128 << 10, 128 << 10 + 1, 256 << 10, 320 << 10, 320 << 10 + 1, 1 << 20])
    func `pieces of any size are what was appended`(size: Int) {
        var pieceBuffer = PieceBuffer()
        let isEmpty = pieceBuffer.isEmpty
        #expect(isEmpty)
        for (index, size) in [size, 256 << 10, size, 1, size, size].enumerated() {
            let bytes = Self.pattern(size, from: index)
            #expect(Self.piece(bytes, from: &pieceBuffer) == bytes)
        }
    }

    @Test func `what does not fit any more is gathered with the rest, in order`() {
        var pieceBuffer = PieceBuffer()
        _ = Self.piece(Self.pattern(256 << 10), from: &pieceBuffer)
        let bytes = Self.pattern(700_000)
        #expect(Self.piece(bytes, in: 100_000, from: &pieceBuffer) == bytes)
        #expect(Self.piece(bytes, in: 1_000_000, from: &pieceBuffer) == bytes)
    }

    @Test func `memory of pieces that are gone is used again, and of no others`() {
        var pieceBuffer = PieceBuffer()
        let bytes = Self.pattern(256 << 10)
        let next = Self.pattern(256 << 10, from: 1)
        _ = Self.piece(bytes, from: &pieceBuffer)
        var kept: [Data] = []
        for _ in 0..<5 { kept.append(Self.piece(bytes, from: &pieceBuffer)) }
        #expect(Set(kept.map(Self.address)).count == 5)
        // A part of one keeps its memory as well.
        let part = kept[1].dropFirst(1_000)
        let used = Set(kept.map(Self.address))
        kept[1...4] = []
        let again = (0..<5).map { _ in Self.piece(next, from: &pieceBuffer) }
        #expect(Set(again.map(Self.address)).intersection(used).count == 3)
        #expect(kept[0] == bytes && part == bytes.dropFirst(1_000) && again.allSatisfy { $0 == next })
    }

    @Test func `a piece of few bytes keeps no buffer`() {
        var pieceBuffer = PieceBuffer()
        _ = Self.piece(Self.pattern(256 << 10), from: &pieceBuffer)
        let buffer = Self.address(of: Self.piece(Self.pattern(256 << 10), from: &pieceBuffer))
        for size in [1_000, 128 << 10] {
            let bytes = Self.pattern(size)
            let piece = Self.piece(bytes, from: &pieceBuffer)
            // The buffer is there for the next one, although the piece is kept.
            #expect(Self.address(of: Self.piece(Self.pattern(256 << 10, from: 1), from: &pieceBuffer)) == buffer)
            #expect(piece == bytes)
        }
    }

    @Test func `pieces outlive their body, and can be changed`() {
        var pieces: [Data] = []
        let bytes = Self.pattern(256 << 10)
        do {
            var pieceBuffer = PieceBuffer()
            for _ in 0..<4 { pieces.append(Self.piece(bytes, from: &pieceBuffer)) }
            bytes.prefix(10).withUnsafeBytes { pieceBuffer.append($0) }
        }
        pieces[1].append(bytes)
        pieces[2][0] = 255
        pieces[3].removeFirst(100)
        pieces[3].append(contentsOf: [1, 2, 3])
        pieces[3].resetBytes(in: 100..<200)
        #expect(pieces[0] == bytes && pieces[1] == bytes + bytes && pieces[2].dropFirst() == bytes.dropFirst())
        #expect(pieces[3].count == bytes.count - 97 && pieces[3].suffix(3) == Data([1, 2, 3]))
    }

    @Test func `pieces that others drop while more are gathered are whole`() {
        let queue = DispatchQueue(label: "readers", attributes: .concurrent)
        let group = DispatchGroup()
        let wrong = Atomic(0)
        for _ in 0..<20 {
            var pieceBuffer = PieceBuffer()
            for index in 0..<20 {
                let bytes = Data(repeating: UInt8(index), count: 200 << 10)
                let piece = Self.piece(bytes, from: &pieceBuffer)
                queue.async(group: group) { if piece != bytes { wrong.wrappingAdd(1, ordering: .relaxed) } }
            }
        }
        group.wait()
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}
#endif
