import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Stream buffer", .ownThread, .timeLimit(.minutes(1)))
struct StreamBufferTests {
    private func piece(_ number: UInt32, count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: Int(number) &* 31 &+ $0) })
    }

    /// Writes pieces of different lengths in a separate task, which returns all bytes that it wrote.
    private func write(_ count: UInt32, to buffer: StreamBuffer) -> _Concurrency.Task<Data, any Error> {
        _Concurrency.Task {
            var all = Data()
            for number in 0..<count {
                let bytes = piece(number, count: Int(number % 97) * 13)
                try buffer.append(bytes)
                all += bytes
                // Lets the readers catch up now and then, so that the file is emptied and started anew.
                if number % 50 == 0 { await _Concurrency.Task.yield() }
            }
            buffer.finish(nil)
            return all
        }
    }

    @Test func `a body that is whole keeps its trailers, though the request's body fails later`() async throws {
        let buffer = StreamBuffer(memoryLimit: 10)
        buffer.finish(nil, trailers: ["X-Sum": "1"])
        buffer.finish(URLError(.networkConnectionLost))
        #expect(try await buffer.next() == nil)
        #expect(buffer.trailers["X-Sum"] == "1")
    }

    @Test(arguments: [0, 500, 20_000])
    func `one reader gets what another thread writes, in order`(limit: Int) async throws {
        let buffer = StreamBuffer(memoryLimit: limit)
        let writer = write(1_000, to: buffer)
        var received = Data()
        while let bytes = try await buffer.next() { received += bytes }
        let isSame = try await writer.value == received
        #expect(isSame)
    }

    @Test(arguments: [0, 500])
    func `several readers share the bytes among them, and each comes to the end`(limit: Int) async throws {
        let buffer = StreamBuffer(memoryLimit: limit)
        let writer = write(1_000, to: buffer)
        let counts = try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    var histogram = [Int](repeating: 0, count: 256)
                    while let bytes = try await buffer.next() {
                        for byte in bytes { histogram[Int(byte)] += 1 }
                    }
                    return histogram
                }
            }
            return try await group.reduce([Int](repeating: 0, count: 256)) { zip($0, $1).map(+) }
        }
        var expected = [Int](repeating: 0, count: 256)
        for byte in try await writer.value { expected[Int(byte)] += 1 }
        #expect(counts == expected)
    }

    @Test func `discarding in the middle ends readers and writers`() async throws {
        for turn in stride(from: 0, to: 100, by: isSanitized ? 4 : 1) {
            let buffer = StreamBuffer(memoryLimit: 100)
            let writer = write(200, to: buffer)
            let reader = _Concurrency.Task {
                while try await buffer.next() != nil {}
            }
            for _ in 0..<turn { await _Concurrency.Task.yield() }
            buffer.discard()
            _ = try await writer.value
            // The reader either had reached the end or gets the error, as do all later readers.
            _ = await reader.result
            while (try? await buffer.next()) != nil {}
        }
    }
}
