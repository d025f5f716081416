import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// What a client gets that can't reach the server.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheOfflineTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func caches(servesStaleOnError: Bool = false) -> [Cache] {
        let disk = Cache.Storage.disk(at: folder.url.appending(path: UUID().uuidString))
        return [.memory(), disk].map { clock.cache($0, servesStaleOnError: servesStaleOnError) }
    }

    @Test func `a response with neither lifetime nor validator is the answer offline, and else asked for each time`() {
        for cache in caches() {
            let stub = StubLoader(.response(body: "one"), .response(body: "two"), .failure(.cannotConnect))
            let chain = cache --> stub
            #expect(chain.load(.cacheable()).textLater == "one")
            #expect(chain.load(.cacheable()).textLater == "two")
            clock.advance(by: 60)
            let response = chain.load(.cacheable().with(.anyAge)).responseLater
            #expect(response?.text == "two" && response?.source == .cache(age: .seconds(60), isStale: true))
            #expect(chain.load(.cacheable(.get, "/", ["Cache-Control": "max-stale"])).textLater == "two")
            #expect(chain.load(.cacheable(.get, "/", ["Cache-Control": "max-stale=9"])).textLater == nil)
            #expect(chain.load(.cacheable().with(.onlyCached)).statusLater == 504)
            #expect(chain.load(.cacheable()).textLater == nil && stub.requests.count == 4)
        }
    }

    @Test func `offline, a request that can't be answered from the cache isn't sent either`() throws {
        let personal = HTTPRequest(url: try #require(URL(string: "https://user:password@example.com/")))
        let unstored = HTTPRequest.cacheable(.get, "/", ["Cache-Control": "no-store"])
        for cache in caches() {
            let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=9"], body: "one"))
            let chain = cache --> stub
            for request in [personal, unstored] {
                #expect(chain.load(request.with(.onlyCached)).statusLater == 504)
                #expect(chain.load(request.with(.anyAge)).statusLater == 504)
            }
            let both = HTTPRequest.cacheable(.get, "/", ["Cache-Control": "no-store, only-if-cached"])
            #expect(chain.load(both).statusLater == 504 && stub.requests.isEmpty)
        }
    }

    @Test func `a stream that the cache can't answer has an empty body`() async throws {
        for cache in caches() {
            let response = try await (cache --> StubLoader()).load(.cacheable().streamed().with(.onlyCached)).get()
            #expect(response.status == 504)
            #expect(try await #require(response.stream).collect().isEmpty)
        }
    }

    @Test func `a response with neither lifetime nor validator stands for an outage where the cache was told so`() {
        for cache in caches(servesStaleOnError: true) {
            let stub = StubLoader(.response(body: "one"), .failure(.timedOut), .response(503))
            let chain = cache --> stub
            for _ in 0..<3 { #expect(chain.load(.cacheable()).textLater == "one") }
            #expect(stub.requests.count == 3)
        }
    }

    @Test func `a stale response tells why it was given`() throws {
        for cache in caches(servesStaleOnError: true) {
            let headers: HTTPHeaders = ["Cache-Control": "max-age=2, stale-while-revalidate=8"]
            let answers: [StubLoader.Answer] = [.response(headers: headers, body: "one"), .response(503)]
            let stub = StubLoader(answers[0], answers[1])
            let chain = cache --> stub
            #expect(chain.load(.cacheable()).responseLater?.staleReason == nil)
            #expect(chain.load(.cacheable()).responseLater?.staleReason == nil, "fresh")
            clock.advance(by: 5)
            #expect(chain.load(.cacheable()).responseLater?.staleReason == .revalidation)
            #expect(chain.load(.cacheable().with(.anyAge)).responseLater?.staleReason == .asked)
            clock.advance(by: 20)
            let response = try #require(chain.load(.cacheable()).responseLater)
            #expect(response.text == "one" && response.staleReason == .error)
            #expect(response.with(headers: [:]).staleReason == .error)
        }
    }

    @Test func `a response that is stale when it arrives tells that it was waited for`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        let tasks = (0..<2).map { _ in chain.load(.cacheable()) }
        stub.tasksInFlight[0].succeed(.ok, headers: ["Cache-Control": "max-age=0"], body: Data("one".utf8))
        #expect(tasks.map { $0.responseNow?.staleReason } == [nil, .fetched])
    }

    @Test(arguments: ["no-store", "no-cache", "must-revalidate"])
    func `what must not be used without the server is not the answer offline`(directive: String) {
        for cache in caches(servesStaleOnError: true) {
            let stub = StubLoader(.response(headers: ["Cache-Control": directive], body: "one"), .failure(.timedOut))
            let chain = cache --> stub
            #expect(chain.load(.cacheable()).textLater == "one")
            #expect(chain.load(.cacheable().with(.anyAge)).statusLater == 504)
            #expect(chain.load(.cacheable()).textLater == nil)
        }
    }
}
