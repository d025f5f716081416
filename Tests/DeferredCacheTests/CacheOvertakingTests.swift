import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Responses that arrive in another order than their requests were sent.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheOvertakingTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func caches() -> [Cache] {
        [clock.cache(), clock.cache(.disk(at: folder.url.appending(path: UUID().uuidString)))]
    }

    /// Completes the first request in flight, or a later one.
    private func answer(_ stub: StubLoader, _ index: Int, _ directives: String, _ body: String) {
        stub.tasksInFlight[index].succeed(.ok, headers: ["Cache-Control": directives], body: Data(body.utf8))
    }

    /// Sends a request, and lets some time go by once the stub has it.
    private func send(
        _ chain: some HTTPLoader,
        _ stub: StubLoader,
        _ request: HTTPRequest,
        seconds: Double = 1
    ) async throws -> HTTPTask {
        let count = stub.requests.count
        let task = chain.load(request)
        try await eventually { stub.requests.count == count + 1 }
        clock.advance(by: seconds)
        return task
    }

    @Test func `a response that was overtaken by one that is not stored is not stored either`() async throws {
        for cache in caches() {
            let stub = StubLoader()
            let chain = cache --> stub
            let first = try await send(chain, stub, .cacheable())
            let second = try await send(chain, stub, .cacheable().with(.reload))
            answer(stub, 1, "no-store", "2")
            #expect(try await second.get().text == "2")
            answer(stub, 0, "max-age=100", "1")
            #expect(try await first.get().text == "1")
            let third = try await send(chain, stub, .cacheable())
            answer(stub, 0, "max-age=100", "3")
            #expect(try await third.get().text == "3")
        }
    }

    /// - Parameter isStream: True if the body is read as it arrives.
    @Test(arguments: [false, true])
    func `what is older than a response that is too large goes, also when a later one has come`(isStream: Bool)
        async throws
    {
        for isOnDisk in [false, true] {
            let path = folder.url.appending(path: UUID().uuidString)
            let cache = clock.cache(
                isOnDisk ? .disk(at: path, capacity: 100_000) : .memory(capacity: 100_000)
            )
            let stub = StubLoader()
            let chain = cache --> stub
            func answer(_ index: Int, _ tag: String, _ directives: String, size: Int) {
                stub.tasksInFlight[index].succeed(
                    .ok,
                    headers: ["Cache-Control": directives, "ETag": "\"\(tag)\"", "Content-Length": "\(size)"],
                    body: Data(count: size)
                )
            }
            let old = try await send(chain, stub, .cacheable())
            answer(0, "1", "max-age=100", size: 1)
            #expect(try await old.get().body.count == 1)
            await cache.flush().value
            var large = HTTPRequest.cacheable().with(.reload)
            if isStream { large.delivery = .stream }
            var user = HTTPRequest.cacheable().with(.reload)
            user.headers["Authorization"] = "bob"
            let tasks = [try await send(chain, stub, large), try await send(chain, stub, user)]
            answer(1, "3", "max-age=100", size: 3)
            #expect(try await tasks[1].get().body.count == 3)
            answer(0, "2", "public, max-age=100", size: 50_000)
            let response = try await tasks[0].get()
            #expect(try await response.stream?.collect().count ?? response.body.count == 50_000)
            await cache.flush().value
            let next = try await send(chain, stub, .cacheable())
            answer(0, "4", "no-store", size: 4)
            #expect(try await next.get().body.count == 4)
        }
    }

    /// - Parameter size: That of the other's response, which may be too large to be stored.
    @Test(arguments: [2, 50_000])
    func `of requests of one millisecond, the later one's response stays`(size: Int) async throws {
        let path = folder.url.appending(path: UUID().uuidString)
        for cache in [clock.cache(.memory(capacity: 100_000)), clock.cache(.disk(at: path, capacity: 100_000))] {
            let stub = StubLoader()
            let chain = cache --> stub
            func answer(_ index: Int, size: Int) {
                stub.tasksInFlight[index].succeed(
                    .ok,
                    headers: ["Cache-Control": "max-age=100", "Content-Length": "\(size)"],
                    body: Data(count: size)
                )
            }
            let request = HTTPRequest.cacheable().with(.reload)
            let tasks = [
                try await send(chain, stub, request, seconds: 0), try await send(chain, stub, request, seconds: 0),
            ]
            for (index, size) in [(1, 1), (0, size)] {
                answer(index, size: size)
                #expect(try await tasks[index].get().body.count == size)
                await cache.flush().value
            }
            #expect(try await chain.load(.cacheable()).get().body.count == 1)
        }
    }

    @Test func `users don't keep each other's responses out`() async throws {
        for cache in caches() {
            let stub = StubLoader()
            let chain = cache --> stub
            func request(_ user: String) -> HTTPRequest {
                var request = HTTPRequest.cacheable()
                request.headers["Authorization"] = user
                return request
            }
            let tasks = [try await send(chain, stub, request("a")), try await send(chain, stub, request("b"))]
            answer(stub, 1, "max-age=100", "b")
            answer(stub, 0, "max-age=100", "a")
            for task in tasks { _ = try await task.get() }
            await cache.flush().value
            for user in ["a", "b"] { #expect(try await chain.load(request(user)).get().text == user) }
            #expect(stub.requests.count == 2)
        }
    }

    /// - Parameter isOlder: True if the older request is the one with a field that says how new the response has to be.
    @Test(arguments: [nil, false, true])
    func `nobody waits for a request that was overtaken`(isOlder: Bool?) async throws {
        var young = HTTPRequest.cacheable()
        if isOlder == nil { young.cachePolicy = .reload } else { young.headers["Cache-Control"] = "max-age=5" }
        let requests = isOlder == true ? [young, .cacheable()] : [.cacheable(), young]
        for cache in caches() {
            let stub = StubLoader()
            let chain = cache --> stub
            let first = try await send(chain, stub, requests[0])
            let second = try await send(chain, stub, requests[1])
            answer(stub, 1, "no-store", "2")
            #expect(try await second.get().text == "2")
            let third = try await send(chain, stub, requests[0])
            answer(stub, 1, "no-store", "3")
            #expect(try await third.get().text == "3")
            answer(stub, 0, "max-age=100", "1")
            #expect(try await first.get().text == "1")
        }
    }

    @Test func `who waited for an overtaken response gets no stale one that came before`() async throws {
        for cache in caches() {
            let stub = StubLoader()
            let chain = cache --> stub
            var english = HTTPRequest.cacheable()
            english.headers["Accept-Language"] = "en"
            let first = try await send(chain, stub, english)
            let second = try await send(chain, stub, .cacheable())
            answer(stub, 1, "max-age=1, must-revalidate", "2")
            #expect(try await second.get().text == "2")
            try await eventually { cache.statistics.stored == 1 }
            clock.advance(by: 30)
            // Waits for the first.
            let third = chain.load(english)
            await cache.flush().value
            answer(stub, 0, "max-age=1, must-revalidate", "1")
            #expect(try await first.get().text == "1")
            try await eventually { stub.requests.count == 3 }
            answer(stub, 0, "no-store", "3")
            #expect(try await third.get().text == "3")
        }
    }

    @Test func `a slower reader of a body that breaks off gets what has come`() async throws {
        for cache in caches() {
            let (bytes, source) = AsyncStream<Data>.makeStream()
            let headers: HTTPHeaders = ["Cache-Control": "max-age=100", "Content-Length": "9"]
            let stub = StubLoader(.response(headers: headers) { HTTPBodyStream(bytes) })
            let chain = cache --> stub
            let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            let second = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            #expect(stub.requests.count == 1)
            for piece in ["one", "two"] { source.yield(Data(piece.utf8)) }
            source.finish()
            for stream in [first, second] { #expect(try await stream.collect() == Data("onetwo".utf8)) }
        }
    }
}
