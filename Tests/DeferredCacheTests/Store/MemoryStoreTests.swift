import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MemoryStoreTests {
    private let clock = CacheTestClock()

    private func stub(_ header: String, size: Int) -> StubLoader {
        StubLoader(answering: { request in
            var headers: HTTPHeaders = ["Vary": request.headers["V"] ?? "V"]
            headers["Cache-Control"] = request.headers["C"] ?? header
            return .response(headers: headers, data: Data(count: size))
        })
    }

    @Test func `the capacity is kept, and what was used last stays`() {
        let stub = stub("max-age=9", size: 1_000)
        let cache = clock.cache(.memory(capacity: 50_000))
        let chain = cache --> stub
        for number in 0..<100 {
            chain.load(.cacheable(.get, "/\(number)"))
            chain.load(.cacheable(.get, "/0"))
            #expect(cache.statistics.bytes <= 50_000)
        }
        #expect(stub.requests.count == 100 && cache.statistics.evicted > 50)
        chain.load(.cacheable(.get, "/99"))
        #expect(stub.requests.count == 100)
    }

    @Test func `what is of no use any more goes first`() {
        let stub = stub("max-age=1000", size: 1_000)
        let chain = clock.cache(.memory(capacity: 50_000)) --> stub
        chain.load(.cacheable(.get, "/old"))
        for number in 0..<10 { chain.load(.cacheable(.get, "/stale\(number)", ["C": "max-age=1"])) }
        clock.advance(by: 2)
        for number in 0..<24 { chain.load(.cacheable(.get, "/\(number)")) }
        let count = stub.requests.count
        chain.load(.cacheable(.get, "/old"))
        #expect(stub.requests.count == count)
    }

    @Test func `a body above an eighth of the capacity is not stored`() {
        let stub = stub("max-age=9", size: 7_000)
        let cache = clock.cache(.memory(capacity: 50_000))
        let chain = cache --> stub
        for _ in 0..<2 { chain.load(.cacheable()) }
        #expect(stub.requests.count == 2 && cache.statistics.bytes == 0)
    }

    @Test func `eight variants of a resource are kept`() {
        let stub = stub("max-age=9", size: 10)
        let chain = clock.cache() --> stub
        for number in 0..<10 { chain.load(.cacheable(.get, "/", ["V": "V, \(number)"])) }
        #expect(stub.requests.count == 10)
        for number in 2..<10 { chain.load(.cacheable(.get, "/", ["V": "V, \(number)"])) }
        #expect(stub.requests.count == 10)
        chain.load(.cacheable(.get, "/", ["V": "V, 0"]))
        #expect(stub.requests.count == 11)
    }

    @Test func `the count of bytes is that of what is there`() {
        let stub = stub("max-age=9", size: 10)
        let cache = clock.cache()
        let chain = cache --> stub
        chain.load(.cacheable())
        let one = cache.statistics.bytes
        chain.load(.cacheable().with(.reload))
        #expect(cache.statistics.bytes == one)
        chain.load(.cacheable(.delete))
        #expect(cache.statistics.bytes == 0)
    }

    @Test func `a cache without capacity stores nothing`() {
        let stub = stub("max-age=9", size: 0)
        let chain = clock.cache(.memory(capacity: -1)) --> stub
        for _ in 0..<2 { chain.load(.cacheable()) }
        #expect(stub.requests.count == 2)
    }

    @Test func `fields come back as they were stored, common or not, short or long`() {
        let fields: [HTTPHeaders.Field] = [
            .init(name: "Cache-Control", value: "max-age=9"), .init(name: "content-type", value: "text/html"),
            .init(name: "cONTENT-lANGUAGE", value: ""), .init(name: "X", value: "\u{e9}"),
            // Equal to a common one, but of other bytes.
            .init(name: "Content-Type", value: "text/html\u{37E} charset=utf-8"),
            .init(name: "Set-Cookie", value: "a=1"), .init(name: "Set-Cookie", value: "b=2"),
            .init(name: String(repeating: "N", count: 254), value: String(repeating: "v", count: 255)),
            .init(name: String(repeating: "N", count: 255), value: String(repeating: "v", count: 70_000)),
        ]
        let stub = StubLoader(.response(headers: HTTPHeaders(fields), body: "one"))
        let chain = clock.cache() --> stub
        for _ in 0..<3 {
            let found = chain.load(.cacheable()).responseNow?.headers.fields.filter { $0.name != "Age" } ?? []
            #expect(found.map { Array($0.name.utf8) } == fields.map { Array($0.name.utf8) })
            #expect(found.map { Array($0.value.utf8) } == fields.map { Array($0.value.utf8) })
        }
        #expect(stub.requests.count == 1)
    }

    @Test func `responses that are asked for again keep to the capacity`() {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=100"], body: "a"))
        let cache = CacheTestClock().cache(.memory(capacity: 100_000))
        let chain = cache --> stub
        for _ in 0..<3 {
            for number in 0..<150 { _ = chain.load(.cacheable(.get, "/\(number)")).peek() }
            #expect((50_000...100_000).contains(cache.statistics.bytes))
        }
        #expect(cache.statistics.hits > 0 && cache.statistics.evicted > 0)
    }

    #if os(Linux)
    /// Answers with texts and bytes of their own, like those from a network.
    private struct Fresh: HTTPLoader {
        static let fields = [
            ("Content-Type", "application/json"), ("Cache-Control", "max-age=3600"), ("ETag", "\"0123456789abcdef\""),
            ("Server", "a server"),
        ]
        static let bodySize = 1_000

        func load(_ task: HTTPTask) {
            let fields = Self.fields.map { name, value in
                HTTPHeaders.Field(name: name, value: String(decoding: Array(value.utf8), as: UTF8.self))
            }
            task.succeed(.ok, headers: HTTPHeaders(fields), body: Data(repeating: 7, count: Self.bodySize))
        }
    }

    @Test(.enabled(if: !isSanitized))
    func `a response takes at most 450 bytes of the heap besides its fields and its body`() async {
        await #expect(processExitsWith: .success) {
            let cache = CacheTestClock().cache(.memory(capacity: 1 << 30))
            let chain = cache --> Fresh()
            func load(_ numbers: Range<Int>) {
                for number in numbers { _ = chain.load(.cacheable(.get, "/entries/\(number)")).peek() }
            }
            let count = 20_000
            load(0..<1)
            let before = heapInUse()
            load(1..<count + 1)
            var size = (heapInUse() - before) / count
            let contents = Fresh.fields.reduce(Fresh.bodySize) { $0 + $1.0.utf8.count + $1.1.utf8.count }
            #expect(cache.statistics.stored == count + 1)
            #expect((1...450).contains(size - contents), "\(size - contents) bytes")
            // What counts for the capacity is about that, also when all responses have been asked for again.
            for isAgain in [false, true] {
                if isAgain {
                    load(0..<count + 1)
                    #expect(cache.statistics.hits == count + 1)
                    size = (heapInUse() - before) / count
                }
                let counted = Int(cache.statistics.bytes) / (count + 1)
                #expect((size * 3 / 4...size * 5 / 4).contains(counted), "\(counted) of \(size) bytes")
            }
            await cache.removeAll().value
            #expect(cache.statistics.bytes == 0)
        }
    }
    #endif
}
