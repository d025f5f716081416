import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// The calls of the file system that an operation takes, however many responses are stored.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DiskCostsTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory
    private let calls = Journal<CacheFolder.Call>()

    init() throws { folder = try TemporaryDirectory() }

    private func cache() -> Cache {
        let (path, calls) = (folder.url.appending(path: "cache").path, calls)
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 64 << 20, now: now) { call in
                calls.add(call)
                return true
            }
        }
        let cache = clock.cache(storage)
        _ = cache.flush().wait()
        return cache
    }

    /// Returns the calls that a request makes.
    private func count(_ cache: Cache, _ chain: some HTTPLoader, _ request: HTTPRequest) -> [String] {
        let before = calls.entries.count
        #expect(chain.load(request).statusLater == .ok)
        _ = cache.flush().wait()
        return calls.entries.dropFirst(before).map { "\($0)" }
    }

    @Test func `a hit, a validation and storing take as many calls in a folder of many responses as in one of few`() {
        let stub = StubLoader { request in
            request.headers["If-None-Match"] == nil
                ? .response(headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""], body: "one")
                : .response(.notModified, headers: ["ETag": "\"a\""])
        }
        for count in [10, 2_000] {
            do {
                let cache = cache()
                for number in 0..<count { _ = (cache --> stub).load(.cacheable(.get, "/\(number)")).textLater }
                _ = cache.flush().wait()
            }
            let cache = cache()
            let chain = cache --> stub
            let request = HTTPRequest.cacheable(.get, "/5")
            #expect(self.count(cache, chain, request) == ["open", "read", "open", "read"], "the head and the body")
            #expect(self.count(cache, chain, request).isEmpty, "from memory")
            clock.advance(by: 11)
            #expect(self.count(cache, chain, request) == ["create", "write", "rename"], "the head alone")
            let storing = ["create", "write", "open", "create", "write", "rename"]
            #expect(self.count(cache, chain, .cacheable(.get, "/new\(count)")) == ["open"] + storing)
            clock.advance(by: 11)
        }
    }
}
