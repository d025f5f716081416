import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Requests that meet: equal ones, changes of the resource, background validations and resets.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SharedFetchesTests {
    private let clock = CacheTestClock()
    private let fresh: HTTPHeaders = ["Cache-Control": "max-age=10"]

    @Test func `equal requests are sent once`() {
        let (stub, cache) = (StubLoader(), clock.cache())
        let chain = cache --> stub
        let tasks = (0..<20).map { _ in chain.load(.cacheable()) }
        #expect(stub.requests.count == 1)
        stub.tasksInFlight[0].succeed(.ok, headers: fresh, body: Data("one".utf8))
        #expect(tasks.allSatisfy { $0.textNow == "one" } && stub.requests.count == 1)
        #expect(cache.statistics.misses == 1 && cache.statistics.hits == 19)
    }

    @Test func `equal requests share a response that is stale at once`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        let tasks = (0..<3).map { _ in chain.load(.cacheable()) }
        stub.tasksInFlight[0].succeed(.ok, headers: ["Cache-Control": "max-age=0"], body: Data("one".utf8))
        #expect(tasks.allSatisfy { $0.textNow == "one" } && stub.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `who has seen the end of a request doesn't share it`(succeeds: Bool) {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        let again = Lock<[HTTPTask]>([])
        chain.load(.cacheable()).future.upon(.immediate) { _ in
            let task = chain.load(.cacheable())
            again.withLock { $0.append(task) }
        }
        if succeeds {
            stub.tasksInFlight[0].succeed(.ok, headers: ["Cache-Control": "max-age=0"], body: Data("one".utf8))
        } else {
            stub.tasksInFlight[0].fail(.cannotConnect)
        }
        #expect(stub.requests.count == 2)
        stub.tasksInFlight[0].succeed(.ok, body: Data("two".utf8))
        #expect(again.withLock { $0[0] }.textNow == "two")
    }

    @Test func `equal validations are sent once`() {
        let (stub, cache) = (StubLoader(), clock.cache())
        let chain = cache --> stub
        chain.load(.cacheable())
        stub.tasksInFlight[0].succeed(.ok, headers: ["ETag": "\"a\""], body: Data("one".utf8))
        let tasks = (0..<20).map { _ in chain.load(.cacheable()) }
        #expect(stub.requests.count == 2)
        stub.tasksInFlight[0].succeed(.notModified)
        #expect(tasks.allSatisfy { $0.textNow == "one" } && stub.requests.count == 2)
        #expect(cache.statistics.validated == 1)
    }

    @Test func `who can't use the response goes on alone`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        let tasks = (0..<3).map { _ in chain.load(.cacheable()) }
        stub.tasksInFlight[0].succeed(.ok, headers: ["Cache-Control": "no-store"])
        #expect(tasks[0].statusNow == .ok && stub.tasksInFlight.count == 2)
        for task in stub.tasksInFlight { task.succeed(.ok) }
        #expect(tasks.allSatisfy { $0.statusNow == .ok } && stub.requests.count == 3)
    }

    @Test func `requests with other fields, and reloads, don't wait`() {
        let stub = StubLoader()
        defer { stub.cancelAll() }
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        chain.load(.cacheable(.get, "/", ["Accept": "a"]))
        chain.load(.cacheable(.get, "/a"))
        chain.load(.cacheable().with(.reload))
        chain.load(.cacheable().inPartition("a"))
        #expect(stub.requests.count == 5)
        // Texts that only look the same are others.
        for name in ["\u{e9}", "e\u{301}"] {
            chain.load(.cacheable().inPartition(name))
            chain.load(.cacheable(.get, "/", ["Authorization": "Bearer \(name)"]))
        }
        #expect(stub.requests.count == 9)
    }

    @Test func `a failure is shared`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        let tasks = (0..<3).map { _ in chain.load(.cacheable()) }
        stub.tasksInFlight[0].fail(.timedOut)
        #expect(tasks.allSatisfy { $0.codeNow == .timedOut } && stub.requests.count == 1)
    }

    @Test func `a failure is not shared with requests that were to be treated in another way`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        var (never, short) = (HTTPRequest.cacheable(), HTTPRequest.cacheable())
        never.retryStrategy = .never
        short.timeout = .seconds(1)
        let first = chain.load(never)
        let others = (0..<3).map { _ in chain.load(.cacheable()) } + [chain.load(.cacheable().streamed())]
        #expect(stub.requests.count == 1)
        chain.load(short)
        #expect(stub.requests.count == 2)
        stub.tasksInFlight[0].fail(.timedOut)
        #expect(first.codeNow == .timedOut && others.allSatisfy { !$0.isFilled })
        for task in stub.tasksInFlight { task.succeed(.ok, headers: fresh) }
        #expect(others.allSatisfy { $0.statusNow == .ok })
    }

    @Test func `when the request that was sent is cancelled, the next one is sent in its place`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        let tasks = (0..<3).map { _ in chain.load(.cacheable()) }
        tasks[0].cancel()
        #expect(tasks[0].codeNow == .cancelled && stub.requests.count == 2 && stub.tasksInFlight.count == 1)
        stub.tasksInFlight[0].succeed(.ok, headers: fresh)
        #expect(tasks[1].statusNow == .ok && tasks[2].statusNow == .ok)
    }

    @Test func `one that waits is cancelled alone, and releases everything`() {
        let lifetimes = Lifetimes()
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        let first = chain.load(.cacheable())
        do {
            let second = chain.load(.cacheable())
            second.addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            second.cancel()
            #expect(second.codeNow == .cancelled)
        }
        #expect(lifetimes.count == 0 && first.peek() == nil && stub.tasksInFlight.count == 1)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(first.statusNow == .ok && stub.requests.count == 1)
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, "PURGE"])
    func `a change removes what is stored, and only a success does`(method: HTTPMethod) {
        let stub = StubLoader(answering: { request in
            request.method == .get ? .response(headers: fresh) : .response(request.path == "/fails" ? 500 : 204)
        })
        let chain = clock.cache() --> stub
        for path in ["/", "/fails"] {
            chain.load(.cacheable(.get, path))
            chain.load(.cacheable(method, path))
            chain.load(.cacheable(.get, path))
        }
        #expect(stub.requests.map(\.method) == [.get, method, .get, .get, method])
    }

    @Test func `a change of which nobody knows whether it has happened removes what is stored`() {
        let answers: [(StubLoader.Answer, Int)] = [
            (.failure(.timedOut), 3), (.failure(.connectionLost), 3), (.failure(.cancelled), 3),
            (.failure(.cannotConnect), 2),
        ]
        for (answer, count) in answers {
            let stub = StubLoader(answering: { $0.method == .get ? .response(headers: fresh) : answer })
            let chain = clock.cache() --> stub
            chain.load(.cacheable())
            chain.load(.cacheable(.put))
            chain.load(.cacheable())
            #expect(stub.requests.count == count)
        }
    }

    @Test func `a value placed twice in a chain waits for nobody`() {
        let stub = StubLoader(.response(headers: fresh, body: "one"), .response(body: "two"))
        let cache = clock.cache()
        let chain = cache --> cache --> stub
        for _ in 0..<2 { #expect(chain.load(.cacheable()).textNow == "one") }
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: [nil, "\"a\""] as [String?])
    func `a background validation is not answered by the cache that it is of`(tag: String?) async throws {
        let stub = StubLoader { request in
            if tag != nil, request.headers["If-None-Match"] == tag { return .response(.notModified) }
            var headers: HTTPHeaders = ["Cache-Control": "max-age=1, stale-while-revalidate=60"]
            headers["ETag"] = tag
            return .response(headers: headers, body: "text")
        }
        let cache = clock.cache()
        let chain = cache --> cache --> stub
        for count in 1...3 {
            #expect(chain.load(.cacheable()).textNow == "text")
            try await eventually { stub.requests.count == count }
            clock.advance(by: 2)
        }
        #expect(cache.statistics.stale == 2)
    }

    @Test func `a Validate below the cache does no harm`() {
        let stub = StubLoader(
            .response(headers: ["ETag": "\"a\"", "Cache-Control": "stale-if-error=9"], body: "one"),
            .response(.notModified),
            .response(503),
            .response(404)
        )
        let chain = clock.cache() --> Validate() --> stub
        chain.load(.cacheable())
        #expect(chain.load(.cacheable()).responseNow?.source == .validated(age: .zero))
        clock.advance(by: 1)
        #expect(chain.load(.cacheable()).textNow == "one")
        #expect(chain.load(.cacheable()).codeNow == .unacceptableStatus && stub.requests.count == 4)
    }

    @Test func `a change removes what is stored for its Location, too`() {
        let stub = StubLoader(answering: { request in
            request.method == .get ? .response(headers: fresh) : .response(201, headers: ["Location": "/new"])
        })
        let chain = clock.cache() --> stub
        chain.load(.cacheable(.get, "/new"))
        chain.load(.cacheable(.post, "/"))
        chain.load(.cacheable(.get, "/new"))
        #expect(stub.requests.count == 3)
    }

    @Test func `a change that may not be stored removes nevertheless`() {
        let stub = StubLoader(.response(headers: fresh))
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        chain.load(.cacheable(.put).with(.bypass))
        chain.load(.cacheable())
        #expect(stub.requests.count == 3)
    }

    @Test func `a response that was sent for before a change is not stored after it, nor waited for`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        let old = chain.load(.cacheable())
        chain.load(.cacheable(.put))
        stub.tasksInFlight[1].succeed(.noContent)
        let new = chain.load(.cacheable())
        #expect(stub.requests.count == 3)
        stub.tasksInFlight[0].succeed(.ok, headers: fresh, body: Data("old".utf8))
        stub.tasksInFlight[0].succeed(.ok, headers: fresh, body: Data("new".utf8))
        #expect(old.textNow == "old" && new.textNow == "new")
        #expect(chain.load(.cacheable()).textNow == "new" && stub.requests.count == 3)
    }

    @Test func `a 304 that was sent for before a change renews nothing after it`() {
        let stub = StubLoader()
        let cache = clock.cache()
        let chain = cache --> stub
        chain.load(.cacheable())
        stub.tasksInFlight[0].succeed(.ok, headers: ["ETag": "\"a\""], body: Data("old".utf8))
        let task = chain.load(.cacheable())
        cache.removeAll()
        stub.tasksInFlight[0].succeed(.notModified)
        #expect(task.textNow == "old" && cache.statistics.bytes == 0)
    }

    @Test func `of two responses, that to the later request stays`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        clock.advance(by: 1)
        chain.load(.cacheable().with(.reload))
        stub.tasksInFlight[1].succeed(.ok, headers: fresh, body: Data("new".utf8))
        stub.tasksInFlight[0].succeed(.ok, headers: fresh, body: Data("old".utf8))
        #expect(chain.load(.cacheable()).textNow == "new")
    }

    @Test func `a URL is removed`() throws {
        let stub = StubLoader(.response(headers: fresh))
        let cache = clock.cache()
        let chain = cache --> stub
        for _ in 0..<2 {
            for request in [HTTPRequest.cacheable(), .cacheable(.get, "/a"), .cacheable().inPartition("p")] {
                chain.load(request)
            }
            cache.remove(try #require(HTTPRequest.cacheable().url))
        }
        #expect(stub.requests.count == 4)
    }

    // MARK: - In the background

    private let revalidated: HTTPHeaders = ["Cache-Control": "max-age=1, stale-while-revalidate=60", "ETag": "\"a\""]

    @Test func `a stale response is the answer while the server is asked once`() throws {
        let (stub, cache) = (StubLoader(), clock.cache())
        let chain = cache --> stub
        chain.load(.cacheable())
        stub.tasksInFlight[0].succeed(.ok, headers: revalidated, body: Data("one".utf8))
        clock.advance(by: 2)
        for _ in 0..<3 {
            let response = try #require(chain.load(.cacheable()).responseNow)
            #expect(response.text == "one" && response.source == .cache(age: .seconds(2), isStale: true))
        }
        #expect(stub.requests.count == 2 && stub.requests[1].headers["If-None-Match"] == "\"a\"")
        stub.tasksInFlight[0].succeed(.ok, headers: fresh, body: Data("two".utf8))
        #expect(chain.load(.cacheable()).textNow == "two" && cache.statistics.stale == 3)
    }

    @Test(arguments: [.bodyTooLarge, .connectionLost] as [HTTPError.Code])
    func `a version that is too large for the background replaces what is stored, and a failure does not`(
        failure: HTTPError.Code
    ) {
        let stub = StubLoader(.response(headers: revalidated, body: "one"), .failure(failure), .response(body: "two"))
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        clock.advance(by: 2)
        #expect(chain.load(.cacheable()).textNow == "one")
        #expect(chain.load(.cacheable()).textNow == (failure == .bodyTooLarge ? "two" : "one"))
    }

    @Test func `a validation in the background renews what is stored`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        stub.tasksInFlight[0].succeed(.ok, headers: revalidated, body: Data("one".utf8))
        clock.advance(by: 2)
        chain.load(.cacheable())
        stub.tasksInFlight[0].succeed(.notModified)
        #expect(chain.load(.cacheable()).responseNow?.source == .cache(age: .zero, isStale: false))
        #expect(stub.requests.count == 2)
    }

    @Test func `cancelling the request leaves the validation in the background alone`() {
        let stub = StubLoader()
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        stub.tasksInFlight[0].succeed(.ok, headers: revalidated)
        clock.advance(by: 2)
        chain.load(.cacheable()).cancel()
        #expect(stub.tasksInFlight.count == 1 && !stub.tasksInFlight[0].isCancelled)
        stub.cancelAll()
    }

    @Test func `a reset cancels what is in the background, waits for it, and clears`() {
        let stub = StubLoader(
            .response(headers: revalidated, body: "one"),
            .pending.ignoringCancellation(),
            .response()
        )
        let cache = clock.cache()
        let chain = cache --> stub
        chain.load(.cacheable())
        clock.advance(by: 2)
        chain.load(.cacheable())
        let reset = chain.reset()
        #expect(stub.tasksInFlight[0].isCancelled && !reset.isFilled && stub.resetCount == 0)
        stub.tasksInFlight[0].succeed(.ok, headers: fresh, body: Data("late".utf8))
        #expect(reset.isFilled && stub.resetCount == 1 && cache.statistics.bytes == 0)
        #expect(chain.load(.cacheable()).textNow == "" && stub.requests.count == 3)
    }

    /// The clock stands still, so that a reset that needs a grace period doesn't end.
    @Test func `a validation in the background that resets its chain doesn't wait for itself`() {
        let stub = StubLoader(.response(headers: revalidated, body: "one"), .response(401))
        let own = Lock<(any HTTPLoader)?>(nil)
        let isReset = Deferred<Void>()
        let signingOut = Intercept { request, next in
            let response = try await next(request)
            guard response.status == .unauthorized, !isReset.isFilled else { return response }
            await own.withLock { $0 }?.reset().value
            isReset.fill()
            return response
        }
        let chain = ResetGuard() --> Autocancel(clock: clock.clock) --> clock.cache() --> signingOut --> stub
        own.withLock { $0 = chain }
        defer { own.withLock { $0 = nil } }
        #expect(chain.load(.cacheable()).future.wait(until: .now() + 20) != nil)
        clock.advance(by: 2)
        #expect(chain.load(.cacheable()).future.wait(until: .now() + 20) != nil)
        #expect(isReset.future.wait(until: .now() + 20) != nil)
        let result = chain.load(.cacheable()).future.wait(until: .now() + 20)
        #expect((try? result?.get())?.status == .unauthorized)
    }

    @Test func `a reset keeps responses out that are on their way`() {
        let stub = StubLoader()
        let cache = clock.cache()
        let chain = cache --> stub
        let task = chain.load(.cacheable())
        #expect(chain.reset().isFilled)
        stub.tasksInFlight[0].succeed(.ok, headers: fresh)
        #expect(task.statusNow == .ok && cache.statistics.bytes == 0)
    }

    @Test func `after the end of a validation in the background nothing is kept`() {
        let stub = StubLoader()
        weak var kept: HTTPTask?
        do {
            let chain = clock.cache() --> stub
            chain.load(.cacheable())
            stub.tasksInFlight[0].succeed(.ok, headers: revalidated)
            clock.advance(by: 2)
            chain.load(.cacheable())
            kept = stub.tasksInFlight[0]
            kept?.succeed(.notModified)
        }
        #expect(kept == nil)
    }

    @Test func `many threads load, change and remove`() {
        let stub = StubLoader(answering: { request in
            request.method == .get ? .response(headers: fresh, body: "x") : .response(.noContent)
        })
        let cache = clock.cache(.memory(capacity: 20_000))
        let chain = cache --> stub
        let ended = Lock(0)
        race(8) { thread in
            for round in 0..<200 {
                let path = "/\((round + thread) % 5)"
                let task =
                    round % 17 == thread ? chain.load(.cacheable(.put, path)) : chain.load(.cacheable(.get, path))
                _ = task.future.wait()
                ended.withLock { $0 += 1 }
                if round == 100, thread == 0 { cache.removeAll() }
            }
        }
        #expect(ended.withLock { $0 } == 1_600)
        cache.removeAll()
        #expect(cache.statistics.bytes == 0)
    }
}
