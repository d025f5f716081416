import DeferredCore
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Folders that can't be used, at first or at times.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DiskHealthTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory
    private let changes = Journal<Cache.Health>()
    private var url: URL { folder.url.appending(path: "cache") }

    init() throws { folder = try TemporaryDirectory() }

    private func cache(_ storage: Cache.Storage? = nil) -> Cache {
        let (clock, changes) = (clock, changes)
        return Cache(
            storage ?? .disk(at: url),
            onHealthChange: { changes.add($0) },
            now: { clock.now },
            clock: clock.clock
        )
    }

    private let stub = StubLoader { .response(headers: ["Cache-Control": "max-age=10", "Vary": "A"], body: $0.path) }

    /// Returns whether a response is stored.
    private func stores(_ cache: Cache, _ path: String) -> Bool {
        let chain = cache --> stub
        #expect(chain.load(.cacheable(.get, path)).textLater == path)
        _ = cache.flush().wait()
        return chain.load(.cacheable(.get, path).with(.onlyCached)).statusLater == .ok
    }

    @Test func `a folder that is removed is made again`() throws {
        let cache = cache()
        #expect(stores(cache, "/a"))
        try FileManager.default.removeItem(at: url)
        #expect(stores(cache, "/b") && stores(cache, "/a"))
        // Its salt is written again, too.
        let other = self.cache()
        for path in ["/a", "/b"] {
            #expect((other --> stub).load(.cacheable(.get, path).with(.onlyCached)).textLater == path)
        }
        #expect(cache.health.isStoring && changes.entries.isEmpty)
        var status = stat()
        #expect(lstat(url.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test func `a change reaches a folder that another process has made again`() throws {
        let (one, other) = (cache(), cache())
        #expect(stores(one, "/a") && stores(other, "/b"))
        try FileManager.default.removeItem(at: url)
        #expect(stores(one, "/a"))
        _ = (other --> StubLoader(.response(.noContent))).load(.cacheable(.put, "/a")).statusLater
        _ = other.flush().wait()
        #expect((one --> stub).load(.cacheable(.get, "/a").with(.onlyCached)).statusLater == 504)
    }

    @Test func `a path that can't be used is told, and used as soon as it can be`() throws {
        try folder.write("", to: "cache")
        let cache = cache()
        #expect(!cache.health.isStoring && changes.entries.count == 1)
        #expect(!stores(cache, "/a") && changes.entries.count == 1)
        let failure = try #require(cache.health.lastFailure)
        #expect(failure.reason.contains(url.path) && failure.date == clock.now)
        #expect(cache.health.description.contains(failure.reason) && !cache.health.description.contains("\n"))
        try FileManager.default.removeItem(at: url)
        #expect(stores(cache, "/b") && cache.health.isStoring)
        #expect(changes.entries.map(\.isStoring) == [false, true] && cache.health.lastFailure == failure)
    }

    @Test(arguments: [CacheFolder.Call.create, .write, .rename])
    func `a disk that is full, and a permission that went, are told`(failing: CacheFolder.Call) {
        let isBroken = Atomic(false)
        let path = url.path
        let storage = Cache.Storage { now in
            DiskStore.opened(path, capacity: 1 << 20, now: now) { call in
                "\(call)" != "\(failing)" || !isBroken.load(ordering: .relaxed)
            }
        }
        let cache = cache(storage)
        #expect(stores(cache, "/a") && cache.health == Cache.Health())
        isBroken.store(true, ordering: .relaxed)
        clock.advance(by: 5)
        #expect(!stores(cache, "/b") && !cache.health.isStoring && cache.health.lastFailure?.date == clock.now)
        isBroken.store(false, ordering: .relaxed)
        #expect(stores(cache, "/c") && cache.health.isStoring && cache.health.lastFailure != nil)
        #expect(changes.entries.map(\.isStoring) == [false, true])
    }

    @Test func `a cache in memory stores`() {
        let cache = cache(.memory())
        #expect(stores(cache, "/a") && cache.health == Cache.Health() && changes.entries.isEmpty)
        #expect(cache.health.description == "the cache stores responses")
    }
}
