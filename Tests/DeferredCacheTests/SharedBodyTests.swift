import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SharedBodyTests {
    private struct Failure: Error {}

    /// Keeps nothing.
    private struct Writer: BodyWriter {
        let hasRoom: Bool
        func append(_ bytes: Data) -> Bool { hasRoom }
        func read(_ range: Range<Int64>) -> Data? { nil }
        func commit(_ head: StoredHead) {}
        func discard() {}
    }

    private let bytes = AsyncThrowingStream<Data, any Error>.makeStream()

    private func body(hasRoom: Bool) throws -> SharedBody {
        let head = try #require(RulesTable.stored("200; Cache-Control: max-age=10"))
        return SharedBody(
            HTTPBodyStream(bytes.stream),
            head,
            Writer(hasRoom: hasRoom),
            clock: CacheTestClock().clock,
            onEnd: {}
        )
    }

    @Test func `a body that has failed is for nobody else, while others still have it`() async throws {
        let body = try body(hasRoom: true)
        let (first, second) = (try #require(body.join()), try #require(body.join()))
        bytes.continuation.finish(throwing: Failure())
        await #expect(throws: Failure.self) { try await first.collect() }
        #expect(body.join() == nil)
        await #expect(throws: Failure.self) { try await second.collect() }
    }

    @Test func `a body of which the beginning could not be stored is for nobody else`() async throws {
        let body = try body(hasRoom: false)
        let first = try #require(body.join())
        var iterator = first.makeAsyncIterator()
        bytes.continuation.yield(Data("one".utf8))
        #expect(try await iterator.next() == Data("one".utf8))
        #expect(body.join() == nil)
        bytes.continuation.finish()
        #expect(try await iterator.next() == nil)
    }
}
