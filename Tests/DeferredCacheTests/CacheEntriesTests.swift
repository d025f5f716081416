import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// What is stored, listed and removed by what it is of.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheEntriesTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func caches(clearsSiteData: Bool = true) -> [Cache] {
        let clock = clock
        let disk = Cache.Storage.disk(at: folder.url.appending(path: UUID().uuidString))
        return [.memory(), disk].map { storage in
            Cache(storage, clearsSiteData: clearsSiteData, now: { clock.now }, clock: clock.clock)
        }
    }

    private let stub = StubLoader { request in
        var headers: HTTPHeaders = ["Cache-Control": "max-age=10", "Vary": "A"]
        headers["Clear-Site-Data"] = request.headers["Clear"]
        return .response(headers: headers, body: request.path)
    }

    private func request(_ text: String, _ headers: HTTPHeaders = [:], in partition: String? = nil) throws
        -> HTTPRequest
    {
        var request = HTTPRequest(url: try #require(URL(string: text)), headers: headers)
        request.cachePartition = partition
        return request
    }

    private func texts(_ cache: Cache) -> [String] {
        let entries = cache.entries().wait() ?? []
        return entries.map { ($0.partition.map { "[\($0)] " } ?? "") + $0.url.absoluteString }.sorted()
    }

    @Test func `entries are listed, and removed by what they are of`() async throws {
        for cache in caches() {
            let chain = cache --> stub
            let requests = [
                try request("https://example.com/a?b=c%20d"), try request("https://example.com/a?b=c%20d", ["A": "1"]),
                try request("http://example.com:81/b"), try request("https://example.com/a", in: "a b"),
                try request("https://[::1]:8443/", in: "https://example.com/"),
            ]
            for request in requests { _ = try await chain.load(request).get() }
            let all = [
                "[a b] https://example.com/a", "[https://example.com/] https://[::1]:8443/", "http://example.com:81/b",
                "https://example.com/a?b=c%20d", "https://example.com/a?b=c%20d",
            ]
            #expect(texts(cache) == all)
            clock.advance(by: 4)
            let found = await cache.entries { $0.url.port == 81 }.value
            let entry = try #require(found.first)
            #expect(found.count == 1 && entry.status == .ok && entry.headers["Vary"] == "A" && entry.byteCount == 2)
            #expect(entry.age == .seconds(4) && !entry.isStale)
            await cache.remove { $0.partition != nil }.value
            #expect(texts(cache) == Array(all.dropFirst(2)))
            clock.advance(by: 7)
            #expect(await cache.entries { !$0.isStale }.value.isEmpty)
            await cache.remove { $0.isStale }.value
            #expect(texts(cache).isEmpty)
        }
    }

    @Test(arguments: ["\"cache\"", "\"*\"", "\"cookies\", \"cache\""])
    func `a response that clears the site removes what is stored of its origin`(field: String) async throws {
        for cache in caches() {
            let chain = cache --> stub
            for text in [
                "https://example.com/a", "https://example.com/b", "https://other.com/a", "http://example.com/a",
            ] {
                for partition in [nil, "p"] { _ = try await chain.load(request(text, in: partition)).get() }
            }
            _ = try await chain.load(request("https://example.com/out", ["Clear": field])).get()
            await cache.flush().value
            await cache.flush().value
            let left = [
                "[p] http://example.com/a", "[p] https://example.com/a", "[p] https://example.com/b",
                "[p] https://other.com/a", "http://example.com/a", "https://other.com/a",
            ]
            try await eventually { texts(cache) == left }
        }
    }

    @Test func `what is on its way when the site is cleared is not stored`() async throws {
        for cache in caches() {
            let pending = StubLoader()
            let task = (cache --> pending).load(.cacheable())
            try await eventually { pending.tasksInFlight.count == 1 }
            _ = try await (cache --> stub).load(.cacheable(.post, "/out", ["Clear": "\"cache\""])).get()
            pending.tasksInFlight[0].succeed(.ok, headers: ["Cache-Control": "max-age=10"])
            _ = try await task.get()
            #expect(texts(cache).isEmpty)
        }
    }

    @Test func `a site is cleared only by who may, by what says so, and where it is wanted`() async throws {
        for (wanted, text, field) in [
            (false, "https://example.com", "\"cache\""), (true, "http://example.com", "\"cache\""),
            (true, "https://example.com", "\"cookies\""), (true, "https://example.com", "cache"),
        ] {
            for cache in caches(clearsSiteData: wanted) {
                let chain = cache --> stub
                _ = try await chain.load(request(text + "/a")).get()
                _ = try await chain.load(request(text + "/out", ["Clear": field])).get()
                await cache.flush().value
                #expect(texts(cache).count == 2)
            }
        }
    }

    @Test func `a redirect below the cache can't clear the site that was asked for`() async throws {
        struct Redirected: HTTPLoader {
            func load(_ task: HTTPTask) {
                let isOut = task.request.path == "/out"
                var headers: HTTPHeaders = ["Cache-Control": "max-age=10"]
                if isOut { headers["Clear-Site-Data"] = "\"*\"" }
                task.succeed(.ok, headers: headers, url: isOut ? URL(string: "http://evil.example/") : task.request.url)
            }
        }
        for cache in caches() {
            let chain = cache --> Redirected()
            for path in ["/a", "/out"] { _ = try await chain.load(request("https://example.com" + path)).get() }
            await cache.flush().value
            #expect(texts(cache).contains { $0.contains("/a") })
        }
    }

    @Test func `what was stored is not used while the site is being cleared`() async throws {
        for cache in caches() {
            let chain = cache --> stub
            for number in 0..<50 { _ = try await chain.load(request("https://example.com/\(number)")).get() }
            for round in 0..<3 {
                _ = try await chain.load(request("https://example.com/out", ["Clear": "\"cache\""])).get()
                let response = try await chain.load(request("https://example.com/\(49 - round)")).get()
                #expect(response.source == .network, "round \(round)")
            }
        }
    }

    @Test(arguments: ["http://127.evil.example/a", "http://127.0.0.1.nip.example/a"])
    func `a name that begins as an address is not this machine`(text: String) throws {
        #expect(try CacheKey(request(text))?.isTrustworthy == false)
        #expect(try CacheKey(request("http://127.0.0.1:80/a"))?.isTrustworthy == true)
    }
}
