import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CircuitBreakerTests {
    private let clock = ManualClock()
    private let stub = StubLoader()
    private let breaker: CircuitBreaker
    private let chain: HTTPChain

    init() {
        breaker = CircuitBreaker(failures: 2, within: .seconds(10), pause: .seconds(30), clock: clock)
        chain = breaker --> stub
    }

    /// Loads a request, and answers it.
    private func load(_ status: HTTPStatus) {
        let task = chain.load(.example)
        stub.tasksInFlight.last?.succeed(status)
        #expect(task.statusNow == status)
    }

    private func open() {
        load(503)
        load(500)
        #expect(breaker.isOpen)
    }

    @Test func `failures within the time open it, and requests fail at once, also for a fallback`() throws {
        load(503)
        load(404)
        load(.ok)
        #expect(!breaker.isOpen)
        chain.load(.example)
        stub.tasksInFlight.last?.fail(.connectionLost)
        #expect(breaker.isOpen)
        guard case .failure(let error) = try #require(chain.load(.example).peek()) else { return }
        #expect(error.code == .cannotConnect && "\(error)".contains("circuit breaker") && stub.requests.count == 4)
        let mirrored = Fallback(to: StubLoader(.response(202))) --> breaker --> stub
        #expect(mirrored.load(.example).statusNow == 202 && stub.requests.count == 4)
    }

    @Test func `failures that are far apart, and cancellations, don't open it`() {
        load(503)
        clock.advance(by: .seconds(11))
        load(503)
        for _ in 1...5 {
            let task = chain.load(.example)
            stub.tasksInFlight.last?.fail(.cancelled)
            #expect(task.codeNow == .cancelled)
        }
        #expect(!breaker.isOpen && stub.requests.count == 7)
    }

    @Test func `after the pause there is one trial, whose success closes it`() {
        open()
        clock.advance(by: .seconds(29))
        #expect(chain.load(.example).codeNow == .cannotConnect)
        clock.advance(by: .seconds(1))
        let trial = chain.load(.example)
        #expect(chain.load(.example).codeNow == .cannotConnect && stub.requests.count == 3)
        stub.tasksInFlight.last?.succeed(.ok)
        #expect(trial.statusNow == .ok && !breaker.isOpen)
        load(.ok)
    }

    @Test func `a trial that fails opens it for another pause, and one that is cancelled lets the next one try`() {
        open()
        clock.advance(by: .seconds(30))
        load(503)
        clock.advance(by: .seconds(29))
        #expect(chain.load(.example).codeNow == .cannotConnect)
        clock.advance(by: .seconds(1))
        let trial = chain.load(.example)
        trial.fail(.timedOut)
        clock.advance(by: .seconds(30))
        chain.load(.example).fail(.cancelled)
        #expect(breaker.isOpen)
        load(.ok)
        #expect(!breaker.isOpen)
    }

    @Test func `results of requests from before don't count, copies share it, and a reset closes it`() {
        let old = chain.load(.example)
        let pending = stub.tasksInFlight.last
        open()
        pending?.succeed(.ok)
        #expect(old.statusNow == .ok && breaker.isOpen)
        let (copy, other) = (breaker, StubLoader())
        #expect((copy --> other).load(.example).codeNow == .cannotConnect && other.requests.isEmpty)
        #expect(chain.reset().isFilled && !copy.isOpen)
        load(.ok)
    }

    @Test func `it keeps the rules, and many threads at once get one trial`() async {
        #expect(await LoaderRules.broken { next in CircuitBreaker() --> next() } == [])
        for _ in 0..<(isSanitized ? 20 : 200) {
            let (breaker, stub) = (CircuitBreaker(failures: 1, pause: .zero), StubLoader())
            let chain = breaker --> stub
            chain.load(.example)
            stub.tasksInFlight[0].fail(.timedOut)
            race(4) { _ in chain.load(.example) }
            #expect(stub.requests.count == 2)
            stub.tasksInFlight.first?.succeed(.ok)
            #expect(!breaker.isOpen)
        }
    }
}
