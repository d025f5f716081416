import DeferredCore
import DeferredHTTP
import DeferredTesting
import Synchronization
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ThrottleTests {
    @Test func `so many are in flight, the others wait in order`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 2))
        let chain = throttle --> stub
        let tasks = (0..<5).map { _ in chain.load(.example) }
        #expect(stub.tasksInFlight.map(\.id) == tasks[..<2].map(\.id) && throttle.waitingCount == 3)
        tasks[1].succeed(.ok)
        #expect(stub.tasksInFlight.map(\.id) == [tasks[0].id, tasks[2].id])
        tasks[0].fail(.timedOut)
        tasks[2].cancel()
        #expect(stub.tasksInFlight.map(\.id) == tasks[3...].map(\.id) && throttle.waitingCount == 0)
    }

    @Test func `requests without a host take turns by their environment`() {
        let stub = StubLoader()
        let chain = Throttle(maximum: 1) --> stub
        for (host, path) in [("a", "/0"), ("a", "/1"), ("a", "/2"), ("b", "/3")] {
            var request = HTTPRequest(path: path)
            request.environment = HTTPEnvironment(host: host)
            chain.load(request)
        }
        for _ in 0..<2 { stub.tasksInFlight[0].succeed(.ok) }
        #expect(stub.requests.map(\.path) == ["/0", "/1", "/3"])
        stub.cancelAll()
    }

    @Test func `the limit can be changed while requests wait`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 1))
        let chain = throttle --> stub
        for _ in 0..<5 { chain.load(.example) }
        throttle.maximum = 3
        #expect(stub.tasksInFlight.count == 3 && throttle.maximum == 3)
        throttle.maximum = 1
        stub.tasksInFlight[0].succeed(.ok)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(stub.tasksInFlight.count == 1 && throttle.waitingCount == 2)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(stub.tasksInFlight.count == 1 && throttle.waitingCount == 1)
        stub.cancelAll()
    }

    @Test func `a request that is not throttled goes by, and does not count`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 1))
        let chain = throttle --> stub
        var free = HTTPRequest.example
        free.isThrottled = false
        for request in [free, .example, .example, free] { chain.load(request) }
        #expect(stub.tasksInFlight.count == 3 && throttle.waitingCount == 1)
        stub.cancelAll()
    }

    @Test func `many that complete at once need no stack`() {
        let (stub, throttle) = (StubLoader(.response()), Throttle(maximum: 1))
        let (chain, first) = (throttle --> stub, StubLoader())
        (throttle --> first).load(.example)
        let tasks = (0..<20_000).map { _ in chain.load(.example) }
        first.tasksInFlight[0].succeed(.ok)
        #expect(tasks.allSatisfy { $0.statusNow == .ok })
    }

    @Test func `a task that ended while it waited is not loaded`() {
        let stub = StubLoader()
        let chain = Throttle(maximum: 1) --> stub
        let tasks = (0..<3).map { _ in chain.load(.example) }
        tasks[1].fail(.timedOut)
        tasks[0].succeed(.ok)
        #expect(stub.requests.count == 2 && stub.tasksInFlight.map(\.id) == [tasks[2].id])
    }

    @Test func `requests that wait go on when nobody has the chain any more`() {
        let (stub, lifetimes) = (StubLoader(), Lifetimes())
        do {
            let chain = Throttle(maximum: 1) --> stub
            for _ in 0..<3 {
                chain.load(.example).addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            }
            chain.load(.example).cancel()
        }
        for count in [2, 1, 0] {
            stub.tasksInFlight[0].succeed(.ok)
            #expect(lifetimes.count == count)
        }
        #expect(stub.requests.count == 3)
    }

    @Test func `requests from many threads never exceed the limit`() {
        struct Counting: HTTPLoader {
            let running = Shared()

            final class Shared: Sendable {
                let count = Atomic(0)
                let peak = Atomic(0)
            }

            func load(_ task: HTTPTask) {
                let count = running.count.add(1, ordering: .relaxed).newValue
                running.peak.max(count, ordering: .relaxed)
                running.count.subtract(1, ordering: .relaxed)
                task.succeed(.ok)
            }
        }
        for _ in 0..<(isSanitized ? 50 : 300) {
            let (counting, tasks) = (Counting(), Journal<HTTPTask>())
            let chain = Throttle(maximum: 2) --> counting
            race(6) { index in
                for _ in 0..<20 {
                    let task = chain.load(.example)
                    tasks.add(task)
                    if index < 3 { task.cancel() }
                }
            }
            #expect(tasks.entries.count == 120 && tasks.entries.allSatisfy(\.isFilled))
            #expect(counting.running.peak.load(ordering: .relaxed) <= 2)
        }
    }
}
