// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/Caching.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CachingSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 12)
        let server = try LoopbackServer { _ in .response(headers: ["Cache-Control": "max-age=60"], body: "Ada") }
        defer { server.stop() }
        let url = server.url("/users/1")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 17)



        let cache = Cache(.memory(capacity: 32 << 20))
        let chain = Validate() --> cache --> Retry() --> URLSessionLoader()

        let first = try await chain.load(HTTPRequest(url: url)).get()   // first.source is .network
        let second = try await chain.load(HTTPRequest(url: url)).get()  // .cache(age:isStale:), and no request was sent
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 27)
        #expect(first.source == .network && second.text == "Ada" && server.requests.count == 1)
        guard case .cache(_, isStale: false) = second.source else { Issue.record("\(second.source)"); return }
#sourceLocation()
    }

    @Test func `In a client`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 90)
        let server = try LoopbackServer { _ in .response(headers: ["Cache-Control": "max-age=60"], body: "Ada") }
        defer { server.stop() }
        let url = server.url("/users/1")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 95)
        var configuration = URLClient.Configuration()
        configuration.cache = Cache(.memory())
        configuration.monitor = { event in
            if case .cached(let age, _) = event.kind { print("\(event.original), \(age) old") }
        }
        let client = URLClient(configuration: configuration)
        let (user, _) = try await client.begin(url).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 104)
        #expect(user == Data("Ada".utf8))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 117)
        let account = (id: "1", name: "Ada")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 120)
        var options = URLClient.RequestOptions()
        options.cachePartition = account.id
        let (profile, _) = try await client.begin(url, options: options).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 125)
        #expect(profile == Data("Ada".utf8))
#sourceLocation()
    }

    @Test func `Policies`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 131)
        var request = HTTPRequest(host: "example.com", path: "/")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 134)
        request.cachePolicy = .validate    // ask the server whether the response has changed: pull to refresh
        request.cachePolicy = .reload      // fetch the response in any case
        request.cachePolicy = .onlyCached  // what may be used without asking, or status 504
        request.cachePolicy = .anyAge      // offline: a response of any age, or status 504
        request.cachePolicy = .bypass      // neither answer from the cache nor store
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 141)
        request.cachePolicy = .anyAge
        #expect(try await Cache(.memory()).load(request).get().status == 504)
#sourceLocation()
    }

    @Test func `On disk`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 175)
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 179)
        let cache = Cache(.disk(at: folder, capacity: 256 << 20))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 182)
        let server = StubLoader(.response(headers: ["Cache-Control": "max-age=60"], body: "Ada"))
        let first = joined(cache, server)
        _ = try await first.load(HTTPRequest(host: "example.com")).get()
        try await eventually { cache.statistics.stored == 1 }
        let again = joined(Cache(.disk(at: folder)), server)
        #expect(try await again.load(HTTPRequest(host: "example.com")).get().text == "Ada" && server.requests.count == 1)
#sourceLocation()
    }

    @Test func `Statistics, contents and health`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 228)
        let cache = Cache(.memory())
        let statistics = cache.statistics
        print("\(statistics.hits) hits, \(statistics.validated) validated, \(statistics.misses) misses, \(statistics.bytes) bytes")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 233)
        #expect(statistics.hits == 0 && statistics.bytes == 0)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 240)
        await cache.remove { $0.partition == "alice" || $0.age > .seconds(86_400) }.value
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 243)
        #expect(await cache.entries().value.isEmpty)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 249)
        let told = Cache(.memory(), statusName: "app")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 252)
        let origin = StubLoader(.response(headers: ["Cache-Control": "max-age=60"], body: "Ada"))
        let loader = joined(told, origin)
        for status in ["app; fwd=uri-miss; stored", "app; hit; ttl=60"] {
            let answer = try await loader.load(HTTPRequest(host: "example.com")).get()
            #expect(answer.headers["Cache-Status"]?.hasPrefix(status.dropLast(2)) == true)
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 264)
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 268)
        let stored = Cache(.disk(at: folder), onHealthChange: { print($0) })
        if !stored.health.isStoring { print(stored.health.lastFailure?.reason ?? "") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 272)
        #expect(stored.health.isStoring)
#sourceLocation()
    }

    func `Coming from other caches`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 290)
        var configuration = URLClient.Configuration()
        configuration.cache = Cache(.memory(capacity: 32 << 20))
        let url = URL(filePath: "/a")
        let cache = Cache(.disk(at: url, capacity: 256 << 20))
        var request = HTTPRequest(path: "/")
        request.cachePolicy = .standard
        request.cachePolicy = .validate
        request.cachePolicy = .reload
        request.cachePolicy = .bypass
        request.cachePolicy = .anyAge
        request.cachePolicy = .onlyCached
        request.headers["Cache-Control"] = "max-stale"
        cache.remove(url)
        await cache.removeAll().value
        _ = (ModifyRequest { _ in }, Intercept { try await $1($0) })
#sourceLocation()
    }

    @Test func `Redirects`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 313)
        let chain = FollowRedirects() --> Cache(.memory()) --> URLSessionLoader()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/Caching.md", line: 316)
        #expect(chain.successors.dropFirst().first is Cache)
#sourceLocation()
    }
}
