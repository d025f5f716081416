import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ClearedOriginsTests {
    private func key(_ text: String, _ partition: String? = nil) throws -> CacheKey {
        var request = HTTPRequest(url: try #require(URL(string: text)))
        request.cachePartition = partition
        return try #require(CacheKey(request))
    }

    private func instant(_ time: Int64) -> CacheInstant { CacheInstant(wall: time, steady: time) }

    @Test func `an origin is cleared from its beginning to its end, and no other is`() throws {
        var origins = ClearedOrigins()
        let (one, same) = (try key("https://a/1"), try key("https://a/2"))
        let urls = ["https://b/1", "http://a/1", "https://a:1/1"]
        let others = try urls.map { try key($0) } + [key("https://a/1", "p")]
        #expect(origins.time(of: one) == nil)
        let isNew = origins.begin(one, at: instant(1))
        #expect(isNew && origins.time(of: same) == instant(1))
        for other in others { #expect(origins.time(of: other) == nil) }
        let rounds = (others + [same, one]).map { origins.end($0) }
        #expect(!rounds.contains(true) && origins.time(of: one) == nil)
    }

    @Test func `what is asked meanwhile makes one more round, however often`() throws {
        var origins = ClearedOrigins()
        let key = try key("https://a/1")
        let begun = (1...4).map { origins.begin(key, at: instant($0)) }
        #expect(begun == [true, false, false, false] && origins.time(of: key) == instant(4))
        let rounds = [origins.end(key), origins.end(key), origins.end(key)]
        #expect(rounds == [true, false, false] && origins.time(of: key) == nil)
        let isNew = origins.begin(key, at: instant(5))
        #expect(isNew)
    }
}
