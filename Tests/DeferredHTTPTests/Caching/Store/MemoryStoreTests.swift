import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

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
}
