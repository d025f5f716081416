import DeferredCore
import DeferredNetworking
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPBodyStreamTests {
    /// A body that throws when the Swift task that reads it is cancelled, and loses nothing then.
    private final class Bytes: AsyncSequence, AsyncIteratorProtocol, Sendable {
        private let rest: Lock<[Data]>

        init(_ bytes: [Data]) { rest = Lock(bytes) }

        func makeAsyncIterator() -> Bytes { self }

        func next() async throws -> Data? {
            try Task.checkCancellation()
            return rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    @Test func `a reader that is cancelled leaves the rest to others`() async throws {
        let stream = HTTPBodyStream(Bytes([Data("a".utf8), Data("b".utf8)]))
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await stream.collect()
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(try await stream.collect() == Data("ab".utf8))
    }

    @Test func `a sequence that ends because its reader was cancelled has no whole body`() async throws {
        let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
        sender.yield(Data("a".utf8))
        let stream = HTTPBodyStream(bytes)
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await stream.collect()
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
        await #expect(throws: CancellationError.self) { try await stream.collect() }
    }

    @Test(arguments: [0, 1, 2])
    func `a sequence is told that the stream was cancelled, also between two pieces`(readBefore count: Int) async throws
    {
        let terminated = Deferred<Void>()
        let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
        sender.onTermination = { _ in terminated.fill() }
        for _ in 0..<2 { sender.yield(Data("a".utf8)) }
        let stream = HTTPBodyStream(bytes)
        var iterator = stream.makeAsyncIterator()
        for _ in 0..<count { #expect(try await iterator.next() != nil) }
        stream.cancel()
        for _ in 0..<2 {
            await #expect(throws: CancellationError.self) { try await iterator.next() }
        }
        try await terminated.get()
        withExtendedLifetime(bytes) {}
    }
}
