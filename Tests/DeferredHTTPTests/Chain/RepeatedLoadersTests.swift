import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

/// A value that occurs twice in a chain does there what it does once.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RepeatedLoadersTests {
    @Test func `a throttle gives a request one place`() {
        let (throttle, stub) = (Throttle(maximum: 1), StubLoader())
        let retry = Retry(.custom { $0.error?.code == .timedOut ? .zero : nil })
        let chain = throttle --> retry --> Deduplicate() --> throttle --> stub
        let tasks = (0..<3).map { chain.load(HTTPRequest(host: "host", path: "/\($0)")) }
        #expect(stub.requests.count == 1 && throttle.waitingCount == 2)
        stub.tasksInFlight[0].fail(.timedOut)
        #expect(stub.requests.map(\.path) == ["/0", "/0"])
        for _ in 0..<2 { stub.tasksInFlight[0].succeed(.ok) }
        #expect(tasks[1].statusNow == .ok && stub.requests.count == 4 && throttle.waitingCount == 0)
        stub.cancelAll()
    }

    /// Each request would wait for its own place.
    @Test func `a throttle before and in a route is refused, and in two routes counts the requests of both`() throws {
        struct Holding: HTTPLoader {
            let loader: any HTTPLoader
            var successors: [any HTTPLoader] { [loader] }
            func load(_ task: HTTPTask) { task.pass(to: loader) }
        }
        let (throttle, stub) = (Throttle(maximum: 1), StubLoader())
        let inner = throttle --> stub
        for chain in [throttle --> Router(.host("a", inner)) --> stub, throttle --> Retry() --> Holding(loader: inner)]
        {
            guard case .failure(let error) = try #require(chain.load(.example).peek()) else { continue }
            #expect(error.code == .cannotConnect && error.underlying is InvalidChain)
            #expect("\(error)".contains("a Throttle comes again in a loader after it"))
        }
        #expect(stub.requests.isEmpty)
        let chain = Router(.host("a", inner)) --> throttle --> stub
        for host in ["a", "b", "a"] { chain.load(HTTPRequest(host: host)) }
        #expect(stub.requests.map(\.host) == ["a"])
        for _ in 0..<3 { stub.tasksInFlight[0].succeed(.ok) }
        #expect(stub.requests.count == 3 && throttle.waitingCount == 0)
    }

    @Test func `another throttle between the two counts, too`() {
        let (outer, inner, stub) = (Throttle(maximum: 3), Throttle(maximum: 1), StubLoader())
        let chain = outer --> inner --> outer --> inner --> stub
        for number in 0..<4 { chain.load(HTTPRequest(host: "host", path: "/\(number)")) }
        #expect(stub.requests.count == 1 && outer.waitingCount == 1 && inner.waitingCount == 2)
        for _ in 0..<4 { stub.tasksInFlight[0].succeed(.ok) }
        #expect(stub.requests.count == 4 && outer.waitingCount == 0 && inner.waitingCount == 0)
    }

    @Test func `a rate limit takes one token`() {
        let (limit, stub) = (RateLimit(requestsPerSecond: 0, burst: 2), StubLoader(.response()))
        let chain = limit --> Retry() --> limit --> stub
        let tasks = (0..<3).map { _ in chain.load(.example) }
        #expect(tasks.map(\.statusNow) == [.ok, .ok, nil])
        tasks[2].cancel()
    }

    @Test func `a deduplicating loader merges once`() {
        let (deduplicate, stub) = (Deduplicate(), StubLoader())
        let chain = deduplicate --> Retry(.never) --> deduplicate --> stub
        let tasks = (0..<2).map { _ in chain.load(.example) }
        #expect(stub.requests.count == 1 && deduplicate.mergedCount == 1)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(tasks.allSatisfy { $0.statusNow == .ok })
    }

    @Test func `a reset ends, and does what it does with one of them`() {
        let (autocancel, guarding) = (Autocancel(), ResetGuard())
        let stubs = [StubLoader(), StubLoader()]
        let chains: [any HTTPLoader] = [
            autocancel --> Retry(.never) --> autocancel --> stubs[0],
            guarding --> autocancel --> guarding --> autocancel --> stubs[0],
            autocancel --> Router(.host("a", autocancel --> stubs[1])) --> stubs[0],
        ]
        for chain in chains {
            let task = chain.load(.example)
            #expect(chain.reset().isFilled && task.codeNow == .cancelled)
            let next = chain.load(.example)
            #expect(stubs[0].tasksInFlight.count == 1)
            stubs[0].tasksInFlight.first?.succeed(.ok)
            #expect(next.statusNow == .ok)
        }
        #expect(stubs.map(\.resetCount) == [3, 1])
    }
}
