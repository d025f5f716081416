import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Stream state machine", .ownThread, .timeLimit(.minutes(1)))
struct StreamStateMachineTests {
    private struct Failure: Error {}

    /// A machine with its file, whose contents are dropped as soon as the machine has no more use for them.
    private struct Stream {
        var machine: StreamStateMachine
        var file = Data()

        init(memoryLimit: Int) {
            machine = StreamStateMachine(memoryLimit: memoryLimit)
        }

        mutating func append(_ bytes: Data) {
            guard let offset = machine.append(bytes) else { return }
            write(bytes, at: offset)
            machine.didWrite(bytes.count, at: offset)
        }

        mutating func write(_ bytes: Data, at offset: Int64) {
            let end = Int(offset) + bytes.count
            if file.count < end { file += Data(count: end - file.count) }
            file.replaceSubrange(Int(offset)..<end, with: bytes)
        }

        func bytes(_ range: Range<Int64>) -> Data { file[Int(range.lowerBound)..<Int(range.upperBound)] }

        /// Takes one piece; returns `nil` for a wait or the end. A piece from the file has at most `pieceSize` bytes.
        mutating func take(pieceSize: Int = .max) -> Data? {
            switch machine.next() {
            case .bytes(let bytes): return bytes
            case .read(let range):
                let bytes = bytes(range).prefix(pieceSize)
                machine.didRead(.success(bytes))
                if machine.isFileEmpty { file = Data() }
                return bytes
            case .end, nil: return nil
            }
        }

        /// Reads all available bytes, and returns them with the state of the stream.
        mutating func drain() -> (bytes: Data, isAtEnd: Bool, failed: Bool) {
            var result = Data()
            while let bytes = take() {
                #expect(!bytes.isEmpty)
                result += bytes
            }
            guard case .end(let error) = machine.next() else { return (result, false, false) }
            return (result, true, error != nil)
        }
    }

    @Test func `a sender is paused between two marks, and bytes on their way then need no file`() {
        var machine = StreamStateMachine(memoryLimit: 1 << 20, limit: 1 << 20)
        let piece = Data(count: 256 << 10)
        for count in 1...8 {
            #expect(machine.append(piece) == nil)
            #expect(machine.isFull == (count > 3))
        }
        #expect(machine.append(piece) == 0)
        for left in (0..<8).reversed() {
            guard case .bytes = machine.next() else {
                Issue.record("nothing in memory with \(left) left")
                return
            }
            // One more piece is in the file.
            #expect(machine.isFull == (left > 0))
        }
    }

    @Test(arguments: [-1, 0, 1 << 20, .max], [-1, 0, 1 << 20, .max])
    func `no limit is too large or too small`(memoryLimit: Int, limit: Int) {
        var machine = StreamStateMachine(memoryLimit: memoryLimit, limit: limit)
        _ = machine.append(Data(count: 3))
        #expect(machine.waitingCount == 3)
    }

    @Test(arguments: [0, 1, 10, 1_000, 1 << 20])
    func `bytes come out as they went in, whatever part of them waits in the file`(limit: Int) throws {
        for seed in 0..<30 {
            var random = SeededGenerator(seed: UInt64(seed))
            var stream = Stream(memoryLimit: limit)
            var (sent, received) = (Data(), Data())
            for _ in 0..<100 {
                if random.next() % 3 > 0 {
                    let piece = Data((0..<random.next() % 400).map { UInt8(truncatingIfNeeded: $0 &+ random.next()) })
                    stream.append(piece)
                    sent += piece
                } else if random.next() % 4 == 0 {
                    received += stream.drain().bytes
                } else if let bytes = stream.take(pieceSize: Int(1 + random.next() % 400)) {
                    received += bytes
                }
            }
            stream.machine.finish(nil)
            let rest = stream.drain()
            #expect(received + rest.bytes == sent)
            #expect(rest.isAtEnd && !rest.failed)
        }
    }

    @Test func `an error comes after the bytes before it, and the first end counts`() throws {
        var stream = Stream(memoryLimit: 3)
        stream.append(Data("abc".utf8))
        stream.append(Data("def".utf8))
        stream.machine.finish(Failure())
        stream.machine.finish(nil)
        stream.append(Data("too late".utf8))
        let (bytes, isAtEnd, failed) = stream.drain()
        #expect(String(decoding: bytes, as: UTF8.self) == "abcdef")
        #expect(isAtEnd && failed)
        #expect(stream.drain().failed)
    }

    @Test func `discarded bytes are not read`() throws {
        var stream = Stream(memoryLimit: 3)
        stream.append(Data("abc".utf8))
        stream.append(Data("def".utf8))
        stream.machine.discard()
        #expect(stream.machine.isFileEmpty)
        let (bytes, isAtEnd, failed) = stream.drain()
        #expect(bytes.isEmpty && isAtEnd && failed)
    }

    @Test func `while a piece is read, other readers wait, and new bytes go behind it`() throws {
        var stream = Stream(memoryLimit: 0)
        stream.append(Data("abc".utf8))
        guard case .read(let range) = stream.machine.next() else { throw Failure() }
        guard case nil = stream.machine.next() else { throw Failure() }
        stream.append(Data("def".utf8))
        stream.machine.finish(nil)
        guard case nil = stream.machine.next() else { throw Failure() }
        let first = stream.bytes(range)
        stream.machine.didRead(.success(first))
        let (rest, isAtEnd, failed) = stream.drain()
        #expect(first + rest == Data("abcdef".utf8))
        #expect(isAtEnd && !failed)
    }

    @Test func `while a piece is written, all that is before it can be read`() throws {
        var stream = Stream(memoryLimit: 0)
        stream.append(Data("abc".utf8))
        let place = stream.machine.append(Data("def".utf8))
        let offset = try #require(place)
        #expect(stream.take() == Data("abc".utf8))
        // The file counts as empty, although the writer is still using it.
        #expect(stream.machine.isFileEmpty)
        guard case nil = stream.machine.next() else { throw Failure() }
        stream.write(Data("def".utf8), at: offset)
        stream.machine.didWrite(3, at: offset)
        #expect(stream.take() == Data("def".utf8))
    }

    @Test func `bytes discarded while they are read or written stay discarded`() throws {
        var stream = Stream(memoryLimit: 0)
        stream.append(Data("abc".utf8))
        guard case .read = stream.machine.next() else { throw Failure() }
        let place = stream.machine.append(Data("def".utf8))
        let offset = try #require(place)
        stream.machine.discard()
        stream.machine.didWrite(3, at: offset)
        #expect(stream.machine.isFileEmpty)
        stream.machine.didRead(.success(Data("abc".utf8)))
        #expect(stream.machine.isFileEmpty && stream.machine.waitingCount == 0)
        #expect(stream.drain().failed)
    }

    @Test func `a file that cannot be read ends the stream with its error`() throws {
        var stream = Stream(memoryLimit: 0)
        stream.append(Data("abc".utf8))
        guard case .read = stream.machine.next() else { throw Failure() }
        stream.machine.finish(nil)
        stream.machine.didRead(.failure(CocoaError(.fileReadUnknown)))
        for _ in 0..<2 {
            guard case .end(let error as CocoaError) = stream.machine.next() else { throw Failure() }
            #expect(error.code == .fileReadUnknown)
        }
    }
}
