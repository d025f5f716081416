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
            DiskStore(path, capacity: 1 << 20, now: now) { call in
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

    /// A kind of call that fails.
    private final class Fault: Sendable {
        private let state = Lock<(call: CacheFolder.Call?, allowed: Int)>((nil, 0))

        /// - Parameter allowed: The number of calls that are still made.
        func begin(_ call: CacheFolder.Call, after allowed: Int = 0) { state.withLock { $0 = (call, allowed) } }

        func end() { state.withLock { $0 = (nil, 0) } }

        func mayMake(_ call: CacheFolder.Call) -> Bool {
            state.withLock { state in
                guard call == state.call else { return true }
                state.allowed -= 1
                return state.allowed >= 0
            }
        }
    }

    private func storage(_ fault: Fault, capacity: Int64 = 1 << 20) -> Cache.Storage {
        let path = url.path
        return Cache.Storage { now in
            DiskStore(path, capacity: capacity, now: now) { fault.mayMake($0) }
        }
    }

    @Test(
        arguments: ["PUT", "remove", "remove(where:)", "removeAll", "reload", "clear"],
        [CacheFolder.Call.open, .list]
    )
    func `what can't be read, as with too many open files, is removed nevertheless`(
        change: String,
        failing: CacheFolder.Call
    ) async throws {
        let fault = Fault()
        let cache = cache(storage(fault))
        #expect(stores(cache, "/a"))
        fault.begin(failing)
        switch change {
        case "PUT": _ = (cache --> StubLoader(.response(.noContent))).load(.cacheable(.put, "/a")).statusLater
        case "remove": cache.remove(try #require(HTTPRequest.cacheable(.get, "/a").url))
        case "remove(where:)": await cache.remove { _ in true }.value
        case "removeAll": await cache.removeAll().value
        case "reload":
            let chain = cache --> StubLoader(.response(headers: ["Cache-Control": "no-store"]))
            _ = chain.load(.cacheable(.get, "/a").with(.reload)).statusLater
        default:
            let chain =
                cache --> StubLoader(.response(headers: ["Clear-Site-Data": "\"cache\"", "Cache-Control": "no-store"]))
            _ = chain.load(.cacheable(.get, "/b")).statusLater
        }
        await cache.flush().value
        fault.end()
        #expect((cache --> stub).load(.cacheable(.get, "/a").with(.anyAge)).statusLater == 504)
        #expect(await cache.entries().value.isEmpty && stores(cache, "/a"))
    }

    @Test func `flush waits for a removal that has begun`() {
        let (path, flushed) = (url.path, DispatchSemaphore(value: 0))
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                // That nobody flushes meanwhile, only time can tell.
                if call == .list { _ = flushed.wait(timeout: .now() + .milliseconds(50)) }
                return true
            }
        }
        let cache = cache(storage)
        #expect(stores(cache, "/a"))
        let (removal, flush) = (cache.remove { _ in true }, cache.flush())
        flush.upon(.immediate) { flushed.signal() }
        _ = flush.wait()
        #expect(removal.isFilled)
    }

    @Test(arguments: [0, 1]) func `what can't be opened, as with too many open files, stays stored`(allowed: Int) {
        let fault = Fault()
        let cache = cache(storage(fault))
        #expect((cache --> stub).load(.cacheable(.get, "/a")).textLater == "/a")
        _ = cache.flush().wait()
        // The head, or only the body.
        fault.begin(.open, after: allowed)
        let request = HTTPRequest.cacheable(.get, "/a").with(.onlyCached)
        #expect((cache --> stub).load(request).statusLater == 504)
        _ = cache.flush().wait()
        fault.end()
        #expect((cache --> stub).load(request).textLater == "/a" && cache.statistics.damaged == 0)
    }

    @Test func `the body of a head that can't be opened is no orphan`() throws {
        let (fault, path) = (Fault(), url.path)
        #expect(stores(cache(), "/a"))
        func bodies() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("b-") }
        }
        for name in try bodies() {
            let old = Date(timeIntervalSinceNow: -86_400)
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path + "/" + name)
        }
        let opened = CacheFolder(path, gate: { fault.mayMake($0) })
        fault.begin(.open)
        #expect(Eviction(opened, now: clock.instant, process: 1).remove(downTo: .max, from: .max) == nil)
        fault.end()
        #expect(Eviction(opened, now: clock.instant, process: 1).remove(downTo: .max, from: .max) != nil)
        #expect(try bodies().count == 1)
    }

    @Test func `what removeAll can't remove takes its place, and is not listed`() async throws {
        let fault = Fault()
        let cache = cache(storage(fault, capacity: 256 << 10))
        for number in 0..<20 { #expect(stores(cache, "/\(number)")) }
        let bytes = cache.statistics.bytes
        fault.begin(.unlink)
        await cache.removeAll().value
        await cache.flush().value
        // What is written while it is counted counts twice, until the next count.
        #expect(cache.statistics.bytes > bytes / 2 && bytes > 0)
        #expect(await cache.entries().value.isEmpty)
        fault.end()
        await cache.removeAll().value
        #expect(cache.statistics.bytes == 0)
    }

    @Test func `while another process makes room, it is no failure that something doesn't fit`() {
        let cache = cache(.disk(at: url, capacity: 256 << 10))
        let chain = cache --> stub
        _ = CacheFolder(url.path).withRoomLocked {
            for number in 0..<100 { #expect(chain.load(.cacheable(.get, "/\(number)")).statusLater == .ok) }
            _ = cache.flush().wait()
            #expect(cache.statistics.stored < 100 && cache.statistics.evicted == 0)
        }
        #expect(cache.health == Cache.Health() && changes.entries.isEmpty)
        #expect(stores(cache, "/later") && cache.statistics.evicted > 0)
    }

    @Test func `a folder without room is told`() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        // A process that was killed has left it.
        try folder.write(String(repeating: "a", count: 300_000), to: "cache/b-1-1")
        let cache = cache(.disk(at: url, capacity: 256 << 10))
        _ = cache.flush().wait()
        #expect(!stores(cache, "/a") && !cache.health.isStoring)
        #expect(cache.health.lastFailure?.reason.contains("no room") == true)
        try FileManager.default.removeItem(at: url.appending(path: "b-1-1"))
        #expect(stores(cache, "/a") && cache.health.isStoring)
        #expect(changes.entries.map(\.isStoring) == [false, true])
    }

    @Test func `an observer may use the cache, whatever has failed`() async throws {
        let path = url.path
        let isBroken = Atomic(false)
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                "\(call)" != "\(CacheFolder.Call.write)" || !isBroken.load(ordering: .relaxed)
            }
        }
        let used = Lock<Cache?>(nil)
        let told = Log<Bool>()
        let cache = Cache(
            storage,
            onHealthChange: { health in
                used.withLock { $0 }?.removeAll().upon(.immediate) { told.add(health.isStoring) }
            }
        )
        used.withLock { $0 = cache }
        #expect(stores(cache, "/a"))
        isBroken.store(true, ordering: .relaxed)
        #expect(!stores(cache, "/b"))
        try await eventually { told.entries == [false] }
        await cache.flush().value
        used.withLock { $0 = nil }
    }

    @Test func `a cache in memory stores`() {
        let cache = cache(.memory())
        #expect(stores(cache, "/a") && cache.health == Cache.Health() && changes.entries.isEmpty)
        #expect(cache.health.description == "the cache stores responses")
    }
}
