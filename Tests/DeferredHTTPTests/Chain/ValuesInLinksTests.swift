import DeferredCache
import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

/// A value that occurs in a chain, and once more where building the chain sees it less easily.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ValuesInLinksTests {
    /// Loads requests with a chain of its own, and then with the rest.
    private struct Wrapping: HTTPLink {
        let inner: HTTPChain
        var successors: [any HTTPLoader] { [inner] }
        func load(_ task: HTTPTask, next: any HTTPLoader) { (inner --> next).load(task) }
    }

    private struct Passing: HTTPLink {
        func load(_ task: HTTPTask, next: any HTTPLoader) { task.pass(to: next) }
    }

    /// A request would wait for its own place, or for its own response.
    @Test(arguments: [true, false])
    func `a value in a link's own chain and after that link keeps no request waiting for itself`(isThrottle: Bool) {
        func chain(_ value: some HTTPLink) -> HTTPChain {
            Wrapping(inner: value --> Passing()) --> Retry(.never) --> value --> StubLoader(.response())
        }
        let task = (isThrottle ? chain(Throttle(maximum: 1)) : chain(Deduplicate())).load(.example)
        #expect(task.isFilled)
        task.cancel()
    }

    @Test func `a value in the own chains of two links keeps no request waiting for itself`() {
        let inner = Throttle(maximum: 1) --> Passing()
        let task = (Wrapping(inner: inner) --> Wrapping(inner: inner) --> StubLoader(.response())).load(.example)
        #expect(task.isFilled)
        task.cancel()
    }

    @Test func `a cache before and after merging keeps no request waiting for itself`() {
        let (cache, stub) = (Cache(.memory()), StubLoader(.response(headers: ["Cache-Control": "max-age=60"])))
        let chain = cache --> Deduplicate() --> cache --> stub
        let task = chain.load(.example)
        #expect(settles(within: .seconds(10)) { task.isFilled })
        task.cancel()
    }

    @Test func `another loader does not take over from a chain that can't work`() {
        let (throttle, mirror) = (Throttle(maximum: 1), StubLoader(.response(202)))
        let refused = throttle --> Router(.host("example.com", throttle --> mirror)) --> mirror
        let fallback = Fallback(to: mirror)
        let chains = [
            fallback --> Retry(), fallback --> Router(.host("example.com", Retry() --> Passing())),
            fallback --> Router(.host("example.com", refused)) --> mirror,
        ]
        for chain in chains {
            guard case .failure(let error) = chain.load(.example).peek() else {
                Issue.record("the mirror has answered")
                continue
            }
            #expect(error.code == .cannotConnect && error.reason != nil)
        }
        #expect(mirror.requests.isEmpty)
    }

    /// Where each value may occur as often as it likes.
    @Test func `values and objects in random orders, joined where their types aren't known, end all requests`() {
        var generator = SeededGenerator(seed: 27)
        let (guarding, autocancel) = (ResetGuard(), Autocancel(clock: ManualClock()))
        let (throttle, deduplicate) = (Throttle(maximum: 1), Deduplicate())
        let inner = guarding --> autocancel --> Retry(.never)
        let links: [any HTTPLink] = [
            throttle, deduplicate, autocancel, guarding, throttle, deduplicate, autocancel, guarding,
            Wrapping(inner: inner), Wrapping(inner: inner), Router(), Passing(), inner,
        ]
        for _ in 0..<200 {
            let order = links.shuffled(using: &generator)
            let stub = StubLoader(.response(), .pending)
            var chain: any HTTPLoader = stub
            for link in order.reversed() { chain = link --> chain }
            let names = order.map { "\(type(of: $0))" }
            #expect(chain.load(.example).statusNow == .ok, "\(names)")
            let (task, reset) = (chain.load(.example), chain.reset())
            #expect(reset.isFilled && task.codeNow == .cancelled && throttle.waitingCount == 0, "\(names)")
            #expect(stub.resetCount == 1, "\(names)")
        }
    }
}
