import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Who may have a response that was sent for by somebody else.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheSharingTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func caches() -> [Cache] {
        [clock.cache(), clock.cache(.disk(at: folder.url.appending(path: UUID().uuidString)))]
    }

    private let shortLived: HTTPHeaders = ["Cache-Control": "max-age=5, must-revalidate", "Content-Length": "6"]

    private func answer(_ bytes: AsyncStream<Data>, _ headers: HTTPHeaders? = nil) -> StubLoader.Answer {
        .response(headers: headers ?? shortLived) { HTTPBodyStream(bytes) }
    }

    @Test(arguments: [true, false])
    func `a stream in flight that is stale is for nobody who comes later`(isStreamed: Bool) async throws {
        for cache in caches() {
            let (bytes, source) = AsyncStream<Data>.makeStream()
            let stub = StubLoader(answer(bytes), .response(body: "new"))
            let chain = cache --> stub
            let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            clock.advance(by: 3_600)
            let later = chain.load(isStreamed ? .cacheable().streamed() : .cacheable())
            try await eventually { stub.requests.count == 2 }
            source.yield(Data("oldold".utf8))
            source.finish()
            #expect(try await first.collect() == Data("oldold".utf8))
            let response = try await later.get()
            #expect(try await response.stream?.collect() ?? response.body == Data("new".utf8))
        }
    }

    @Test func `a stream that was left in flight is for nobody who comes when it is stale`() async throws {
        for cache in caches() {
            let (bytes, source) = AsyncStream<Data>.makeStream()
            let stub = StubLoader(answer(bytes), .response(body: "new"))
            let chain = cache --> stub
            do {
                let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
                source.yield(Data("old".utf8))
                var iterator = first.makeAsyncIterator()
                _ = try await iterator.next()
            }
            // The cache reads on for a moment by the steady clock.
            clock.setWall(by: 3_600)
            let later = chain.load(.cacheable())
            try await eventually { stub.requests.count == 2 }
            source.yield(Data("old".utf8))
            source.finish()
            #expect(try await later.get().text == "new")
        }
    }

    @Test func `a response that became stale while its body arrived is not taken for one that was waited for`()
        async throws
    {
        for cache in caches() {
            let (bytes, source) = AsyncStream<Data>.makeStream()
            let stub = StubLoader(answer(bytes), .response(body: "new"))
            let chain = cache --> stub
            let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            // Fresh when it came.
            let later = chain.load(.cacheable())
            try await eventually { cache.statistics.misses == 1 }
            clock.advance(by: 3_000)
            source.yield(Data("oldold".utf8))
            source.finish()
            _ = try await first.collect()
            #expect(try await later.get().text == "new" && stub.requests.count == 2)
        }
    }

    @Test func `those that waited before the head came share what was fetched for them`() async throws {
        for (cache, isBlocking) in zip(caches(), [false, true]) {
            let stub = StubLoader()
            let chain = cache --> stub
            let tasks = (0..<3).map { _ in chain.load(.cacheable().streamed()) }
            try await eventually { stub.tasksInFlight.count == 1 }
            // On disk, the others may not wait yet.
            if isBlocking { await cache.flush().value }
            let sent = stub.tasksInFlight[0]
            let headers: HTTPHeaders = ["Cache-Control": "max-age=0", "Content-Length": "3"]
            sent.complete(
                with: .success(
                    HTTPResponse(request: sent.request, status: .ok, headers: headers, stream: .pieces("one"))
                )
            )
            if !isBlocking { #expect(stub.requests.count == 1) }
            for task in stub.tasksInFlight { task.succeed(.ok, headers: headers, body: Data("one".utf8)) }
            for task in tasks where !isBlocking {
                #expect(try await task.get().stream?.collect() == Data("one".utf8))
            }
            stub.cancelAll()
        }
    }

    @Test(arguments: [true, false])
    func `those that waited before the head came share a body of unknown length that ends soon`(ends: Bool) async throws
    {
        let (bytes, source) = AsyncStream<Data>.makeStream()
        let (stub, cache) = (StubLoader(), clock.cache())
        let chain = cache --> stub
        let tasks = (0..<3).map { _ in chain.load(.cacheable().streamed()) }
        let sent = try #require(stub.tasksInFlight.first)
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10"]
        sent.complete(
            with: .success(
                HTTPResponse(request: sent.request, status: .ok, headers: headers, stream: HTTPBodyStream(bytes))
            )
        )
        source.yield(Data("one".utf8))
        if ends {
            source.finish()
        } else {
            // They don't wait for long.
            try await clock.clock.waitForSleepers(2)
            clock.advance(by: 1)
            try await eventually { stub.tasksInFlight.count == 2 }
            for task in stub.tasksInFlight { task.succeed(.ok, headers: headers, body: Data("one".utf8)) }
            source.finish()
        }
        for task in tasks {
            let response = try await task.get()
            #expect(try await response.stream?.collect() ?? response.body == Data("one".utf8))
        }
        #expect(stub.requests.count == (ends ? 1 : 3))
    }

    @Test func `a stale response in flight that may be used meanwhile is asked for once more`() async throws {
        let (bytes, source) = AsyncStream<Data>.makeStream()
        let headers: HTTPHeaders = ["Cache-Control": "max-age=5, stale-while-revalidate=60", "Content-Length": "6"]
        let stub = StubLoader(answer(bytes, headers), .response(body: "new"))
        let chain = clock.cache() --> stub
        let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
        clock.advance(by: 10)
        #expect(try await chain.load(.cacheable()).get().text == "new" && stub.requests.count == 2)
        source.finish()
        _ = try await first.collect()
    }

    @Test func `who asks the server gets nothing that was asked for before`() {
        for policy in [CachePolicy.validate, .reload] {
            let stub = StubLoader()
            let chain = clock.cache() --> stub
            chain.load(.cacheable())
            let asking = (0..<2).map { _ in chain.load(.cacheable().with(policy)) }
            chain.load(.cacheable(.get, "/", ["Cache-Control": "max-age=0"]))
            chain.load(.cacheable(.get, "/", ["Cache-Control": "max-age=0"]))
            #expect(stub.requests.count == 5)
            stub.tasksInFlight[0].succeed(.ok, headers: ["Cache-Control": "max-age=10"], body: Data("old".utf8))
            for task in stub.tasksInFlight { task.succeed(.ok, body: Data("new".utf8)) }
            #expect(asking.allSatisfy { $0.textNow == "new" })
        }
    }
}
