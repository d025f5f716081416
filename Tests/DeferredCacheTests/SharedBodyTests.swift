import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SharedBodyTests {
    private struct Failure: Error {}

    /// Has room for so many bytes.
    private final class Writer: BodyWriter {
        let room: Int
        let bytes = Lock(Data())
        init(room: Int) { self.room = room }
        func append(_ more: Data) -> Bool {
            bytes.withLock { bytes in
                guard bytes.count + more.count <= room else { return false }
                bytes += more
                return true
            }
        }
        func read(_ range: Range<Int64>) -> Data? {
            bytes.withLock { $0.subdata(in: Int(range.lowerBound)..<Int(range.upperBound)) }
        }
        func commit(_ head: StoredHead) {}
        func discard() {}
    }

    private let request = HTTPRequest(host: "example.com")
    private let bytes = AsyncThrowingStream<Data, any Error>.makeStream()

    private func body(room: Int) throws -> SharedBody {
        let head = try #require(RulesTable.stored("200; Cache-Control: max-age=10"))
        return SharedBody(
            HTTPBodyStream(bytes.stream),
            head,
            Writer(room: room),
            clock: CacheTestClock().clock,
            onEnd: { _ in }
        )
    }

    @Test func `a body that has failed is for nobody else, while others still have it`() async throws {
        let body = try body(room: 100)
        let (first, second) = (try #require(body.join(for: request)), try #require(body.join(for: request)))
        bytes.continuation.finish(throwing: Failure())
        await #expect(throws: HTTPError.self) { try await first.collect() }
        #expect(body.join(for: request) == nil)
        await #expect(throws: HTTPError.self) { try await second.collect() }
    }

    @Test func `a body of which the beginning could not be stored is for nobody else`() async throws {
        let body = try body(room: 0)
        let first = try #require(body.join(for: request))
        var iterator = first.makeAsyncIterator()
        bytes.continuation.yield(Data("one".utf8))
        #expect(try await iterator.next() == Data("one".utf8))
        #expect(body.join(for: request) == nil)
        bytes.continuation.finish()
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: 0...6)
    func `slower readers get what could not be stored, too`(room: Int) async throws {
        let body = try body(room: room * 2)
        let (first, second, third) = (
            try #require(body.join(for: request)), try #require(body.join(for: request)),
            try #require(body.join(for: request))
        )
        var (one, other) = (first.makeAsyncIterator(), second.makeAsyncIterator())
        var (read, behind) = (Data(), Data())
        for number in 0..<6 {
            bytes.continuation.yield(Data("\(number)\n".utf8))
            read += try #require(try await one.next())
            // Is behind by some pieces.
            if number == 1 { behind += try #require(try await other.next()) }
            if number == 3 { third.cancel() }
        }
        first.cancel()
        var late = behind
        while late.count < 12 { late += try #require(try await other.next()) }
        bytes.continuation.yield(Data("6\n".utf8))
        late += try #require(try await other.next())
        bytes.continuation.finish()
        #expect(try await other.next() == nil)
        #expect(String(decoding: late, as: UTF8.self) == "0\n1\n2\n3\n4\n5\n6\n")
        #expect(String(decoding: read, as: UTF8.self) == "0\n1\n2\n3\n4\n5\n")
    }
}
