import DeferredCore
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// The space that a folder takes.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DiskCapacityTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory
    private var path: String { folder.url.appending(path: "cache").path }

    init() throws { folder = try TemporaryDirectory() }

    private func cache(_ capacity: Int) -> Cache {
        clock.cache(.disk(at: folder.url.appending(path: "cache"), capacity: capacity))
    }

    /// The bytes on disk of all files.
    private func size() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
            var status = stat()
            return lstat(path + "/" + name, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }

    @Test func `responses without a body count, and are evicted`() throws {
        let capacity = 256 << 10
        let cache = cache(capacity)
        let chain = cache --> StubLoader { _ in .response(headers: ["Cache-Control": "max-age=100"]) }
        var largest = 0
        for number in 0..<500 {
            #expect(chain.load(.cacheable(.get, "/\(number)")).statusLater == .ok)
            largest = max(largest, try size())
        }
        _ = cache.flush().wait()
        #expect(try size() > capacity / 2 && largest <= capacity)
        #expect(cache.statistics.evicted > 400 && cache.statistics.bytes <= capacity && cache.statistics.bytes > 0)
        #expect(chain.load(.cacheable(.get, "/499").with(.onlyCached)).statusLater == .ok)
    }

    @Test func `large fields count as what they take`() throws {
        let capacity = 4 << 20
        let cache = cache(capacity)
        let field = String(repeating: "a", count: 60_000)
        let chain =
            cache --> StubLoader { _ in .response(headers: ["Cache-Control": "max-age=100", "A": field], body: "1") }
        var largest = 0
        for number in 0..<200 {
            #expect(chain.load(.cacheable(.get, "/\(number)")).textLater == "1")
            largest = max(largest, try size())
        }
        _ = cache.flush().wait()
        #expect(try size() > capacity / 2 && largest <= capacity)
        #expect(chain.load(.cacheable(.get, "/199").with(.onlyCached)).textLater == "1")
    }

    @Test func `many variants with large fields count as what they take, and keep to an eighth`() throws {
        let capacity = 1 << 20
        let cache = cache(capacity)
        let field = String(repeating: "a", count: 60_000)
        let headers: HTTPHeaders = ["Cache-Control": "max-age=100", "Vary": "V", "A": field]
        let chain = cache --> StubLoader { _ in .response(headers: headers, body: "1") }
        var largest = 0
        for number in 0..<64 {
            let request = HTTPRequest.cacheable(.get, "/\(number % 8)", ["V": "\(number / 8)"])
            #expect(chain.load(request).textLater == "1")
            #expect(chain.load(request).textLater == "1")
            largest = max(largest, try size())
        }
        _ = cache.flush().wait()
        #expect(largest <= capacity)
    }

    @Test func `streams in flight count, too`() async throws {
        let capacity = 1 << 20
        let cache = cache(capacity)
        let piece = Data(repeating: 7, count: 20_000)
        let chain =
            cache
            --> StubLoader { _ in
                .response(headers: ["Cache-Control": "max-age=100"]) {
                    HTTPBodyStream(
                        AsyncStream<Data> { continuation in
                            for _ in 0..<6 { continuation.yield(piece) }
                            continuation.finish()
                        }
                    )
                }
            }
        var largest = 0
        for round in 0..<4 {
            var iterators: [HTTPBodyStream.Iterator] = []
            for number in 0..<20 {
                let request = HTTPRequest.cacheable(.get, "/\(round) \(number)").streamed()
                iterators.append(try #require(try await chain.load(request).get().stream).makeAsyncIterator())
            }
            for _ in 0..<7 {
                for index in iterators.indices {
                    _ = try await iterators[index].next()
                    largest = max(largest, try size())
                }
            }
        }
        await cache.flush().value
        #expect(largest <= capacity && cache.statistics.stored > 4)
    }

    @Test func `what is replaced while room is made is not removed`() throws {
        let cache = cache(1 << 20)
        let chain = cache --> StubLoader { _ in .response(headers: ["Cache-Control": "max-age=0"], body: "one") }
        _ = chain.load(.cacheable(.get, "/a")).textLater
        _ = cache.flush().wait()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasPrefix("h-") {
            let past: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: -60)]
            try FileManager.default.setAttributes(past, ofItemAtPath: path + "/" + name)
        }
        let isReplaced = Atomic(false)
        let folder = CacheFolder(path) { call in
            // Between reading the heads and removing them.
            guard call == .unlink, !isReplaced.exchange(true, ordering: .relaxed) else { return true }
            _ = chain.load(.cacheable(.get, "/b")).textLater
            _ = cache.flush().wait()
            return true
        }
        _ = chain.load(.cacheable(.get, "/b")).textLater
        _ = cache.flush().wait()
        clock.advance(by: 1)
        let eviction = Eviction(folder, now: clock.instant, process: 0)
        #expect(eviction.remove(downTo: 0, from: 0)?.removedCount == 1)
        #expect(chain.load(.cacheable(.get, "/b").with(.anyAge)).textLater == "one")
    }

    @Test func `what another process removes while room is made counts as removed`() throws {
        let cache = cache(1 << 20)
        let chain = cache --> StubLoader { _ in .response(headers: ["Cache-Control": "max-age=100"], body: "one") }
        for name in ["/a", "/b", "/c"] { _ = chain.load(.cacheable(.get, name)).textLater }
        _ = cache.flush().wait()
        let heads = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("h-") }.sorted()
        // The first one is used the least recently.
        for (age, name) in heads.enumerated() {
            let past: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: Double(age - 60))]
            try FileManager.default.setAttributes(past, ofItemAtPath: path + "/" + name)
        }
        let isRemoved = Atomic(false)
        let (removed, path) = (heads[1], path)
        let folder = CacheFolder(path) { call in
            if call == .unlink, !isRemoved.exchange(true, ordering: .relaxed) { _ = unlink(path + "/" + removed) }
            return true
        }
        let all = try #require(Eviction(folder, now: clock.instant, process: 0).remove(downTo: .max, from: .max))
        let eviction = Eviction(folder, now: clock.instant, process: 0)
        #expect(eviction.remove(downTo: all.bytes / 3, from: 0)?.removedCount == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("h-") } == [heads[2]])
    }

    @Test func `a folder that is opened with less capacity keeps to that`() async throws {
        let capacity = 1 << 20
        let stub = StubLoader { _ in .response(headers: ["Cache-Control": "max-age=100"], data: Data(count: 3_000)) }
        do {
            let cache = cache(capacity)
            let chain = cache --> stub
            for number in 0..<100 { _ = chain.load(.cacheable(.get, "/\(number)")).statusLater }
            await cache.flush().value
        }
        #expect(try size() > capacity / 2)
        let smaller = cache(capacity / 4)
        await smaller.flush().value
        #expect(try size() <= capacity / 4 && smaller.statistics.evicted > 50)
    }

    @Test func `what processes store at once is counted soon`() throws {
        let capacity = 1 << 20
        let stub = StubLoader { _ in .response(headers: ["Cache-Control": "max-age=100"], data: Data(count: 3_000)) }
        let caches = (0..<2).map { _ in cache(capacity) }
        var largest = 0
        for number in 0..<500 {
            let cache = caches[number % 2]
            _ = (cache --> stub).load(.cacheable(.get, "/\(number)")).statusLater
            _ = cache.flush().wait()
            largest = max(largest, try size())
        }
        // Each counts what the other one has stored whenever it has stored an eighth itself.
        #expect(largest <= capacity + capacity / 8)
    }
}
