import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Dispatch
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ResetOrderTests {
    @Test func `a reset starts no waiting request`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 4))
        let chain = ResetGuard() --> Autocancel() --> Validate() --> Retry() --> throttle --> stub
        let tasks = (0..<200).map { number in chain.load(HTTPRequest(.post, host: "host\(number % 3)")) }
        #expect(stub.requests.count == 4 && throttle.waitingCount == 196)
        #expect(chain.reset().isFilled)
        #expect(stub.requests.count == 4 && tasks.allSatisfy { $0.codeNow == .cancelled })
    }

    @Test func `a reset starts no waiting request when requests are shared`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 2))
        let chain = Autocancel() --> Deduplicate() --> throttle --> stub
        let tasks = (0..<20).map { number in chain.load(HTTPRequest(host: "host", path: "/\(number % 10)")) }
        #expect(chain.reset().isFilled)
        #expect(stub.requests.count == 2 && tasks.allSatisfy { $0.codeNow == .cancelled })
    }

    @Test func `a request that ends by itself during a reset makes room for none`() {
        let (stub, throttle) = (StubLoader(.pending.ignoringCancellation()), Throttle(maximum: 1))
        let chain = Autocancel() --> throttle --> stub
        let (first, second) = (chain.load(.example), chain.load(.example))
        // Cancelled before the second request, since the newest is cancelled first.
        let third = chain.load(.example)
        third.addCancellationHandler { stub.tasksInFlight[0].succeed(.ok) }
        _ = chain.reset()
        #expect(first.statusNow == .ok && second.codeNow == .cancelled && stub.requests.count == 1)
    }

    @Test func `a request that ends on another thread during a reset starts no waiting one`() {
        let (stub, throttle) = (StubLoader(.pending.ignoringCancellation()), Throttle(maximum: 1))
        let chain = Autocancel() --> throttle --> stub
        let (first, second) = (chain.load(.example), chain.load(.example))
        let third = chain.load(.example)
        third.addCancellationHandler {
            let ended = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                stub.tasksInFlight[0].succeed(.ok)
                ended.signal()
            }
            ended.wait()
        }
        _ = chain.reset()
        #expect(first.statusNow == .ok && second.codeNow == .cancelled && stub.requests.count == 1)
    }

    @Test func `a reset starts no waiting shared request, which belongs to none of its own`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 1))
        let chain = Autocancel() --> Deduplicate() --> throttle --> stub
        for (host, path) in [("a", "/0"), ("a", "/1"), ("a", "/2"), ("b", "/3")] {
            chain.load(HTTPRequest(host: host, path: path))
        }
        for _ in 0..<2 { stub.tasksInFlight[0].succeed(.ok) }
        // The hosts take turns, so that the newest request, which is cancelled first, is in flight before an older one.
        #expect(stub.requests.map(\.path) == ["/0", "/1", "/3"])
        #expect(chain.reset().isFilled)
        #expect(stub.requests.count == 3)
    }

    @Test func `requests are let in again after a reset`() {
        let stub = StubLoader()
        let chain = ResetGuard() --> Autocancel() --> Throttle(maximum: 1) --> stub
        chain.load(.example)
        #expect(chain.reset().isFilled)
        let task = chain.load(.example)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(task.statusNow == .ok)
    }

    @Test func `a reset of the loader alone ends what is in flight in its chains`() {
        let (autocancel, stub) = (Autocancel(), StubLoader(.pending, .response()))
        let chain = autocancel --> stub
        let task = chain.load(.example)
        #expect(autocancel.reset().isFilled && task.codeNow == .cancelled)
        #expect(chain.load(.example).statusNow == .ok && stub.resetCount == 0)
    }

    @Test(arguments: [true, false])
    func `one loader in two chains resets both`(isAutocancel: Bool) {
        let (stubs, shared) = ([StubLoader(.pending.ignoringCancellation()), StubLoader()], Autocancel())
        let guarded = ResetGuard()
        let chains: [any HTTPLoader] =
            isAutocancel
            ? stubs.map { shared --> $0 } : stubs.map { guarded --> Autocancel() --> $0 }
        let task = chains[0].load(.example)
        let (one, two) = (chains[0].reset(), chains[1].reset())
        #expect(!one.isFilled)
        task.fail(.cancelled)
        #expect(one.isFilled && two.isFilled)
        #expect(stubs.map(\.resetCount) == [1, 1])
        #expect(chains[1].reset().isFilled && stubs.map(\.resetCount) == [1, 2])
    }
}
