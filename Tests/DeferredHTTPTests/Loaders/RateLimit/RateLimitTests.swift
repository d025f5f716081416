import DeferredCore
import DeferredTesting
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RateLimitTests {
    private let clock = ManualClock()
    private let stub = StubLoader(.response())

    @Test func `a burst continues at once, the others as tokens return, in order`() async throws {
        let limit = RateLimit(requestsPerSecond: 2, burst: 3, clock: clock)
        let chain = limit --> stub
        for number in 0..<6 { chain.load(HTTPRequest(host: "host", path: "/\(number)")) }
        #expect(stub.requests.count == 3 && limit.waitingCount == 3)
        for count in 4...6 {
            try await clock.waitForSleepers()
            clock.advance(by: .milliseconds(499))
            #expect(stub.requests.count == count - 1)
            clock.advance(by: .milliseconds(1))
            try await eventually { stub.requests.count == count }
        }
        #expect(stub.requests.map(\.path) == (0..<6).map { "/\($0)" })
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `one that is cancelled takes no token`() async throws {
        let limit = RateLimit(requestsPerSecond: 1, clock: clock)
        let chain = limit --> stub
        chain.load(.example)
        let (cancelled, next) = (chain.load(.example), chain.load(.example))
        cancelled.cancel()
        #expect(cancelled.codeNow == .cancelled && limit.waitingCount == 1)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(try await next.get().status == .ok)
        #expect(stub.requests.count == 2)
    }

    @Test func `if all that waited were cancelled, the token is there for the next`() async throws {
        let limit = RateLimit(requestsPerSecond: 1, clock: clock)
        let chain = limit --> stub
        chain.load(.example)
        let waiting = chain.load(.example)
        try await clock.waitForSleepers()
        waiting.cancel()
        clock.advance(by: .seconds(1))
        try await eventually { clock.sleeperCount == 0 }
        #expect(chain.load(.example).statusNow == .ok)
    }

    @Test func `one that was cancelled before takes no token either`() {
        let chain = RateLimit(requestsPerSecond: 1, clock: clock) --> stub
        let cancelled = HTTPTask(.example)
        cancelled.cancel()
        chain.load(cancelled)
        #expect(cancelled.codeNow == .cancelled)
        #expect(chain.load(.example).statusNow == .ok)
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `the bucket goes with its chain once nobody waits, however far the timer is`(isCancelled: Bool) async throws {
        weak var bucket: AnyObject?
        do {
            let limit = RateLimit(requestsPerSecond: 0.001, clock: clock)
            bucket = limit.sharedState
            let chain = limit --> stub
            chain.load(.example)
            let waiting = (0..<2).map { _ in chain.load(.example) }
            try await clock.waitForSleepers()
            for task in waiting { if isCancelled { task.cancel() } else { task.fail(.timedOut) } }
            #expect(limit.waitingCount == 0)
            // One that comes after that has a timer again.
            let late = chain.load(.example)
            clock.advance(by: .seconds(1_000))
            try await eventually { late.statusNow == .ok }
            chain.load(.example).cancel()
        }
        // The clock's sleeper releases the timer's closure when it wakes up.
        try await eventually { clock.sleeperCount == 0 && bucket == nil }
    }

    @Test func `a request can go by`() {
        let chain = RateLimit(requestsPerSecond: 0, clock: clock) --> stub
        var request = HTTPRequest.example
        request.isRateLimited = false
        for _ in 0..<5 { #expect(chain.load(request).statusNow == .ok) }
    }

    @Test(arguments: [0, -1, Double.nan, -Double.infinity, .leastNonzeroMagnitude])
    func `without a rate, only the burst passes`(rate: Double) {
        let limit = RateLimit(requestsPerSecond: rate, burst: .max, clock: clock)
        #expect((limit --> stub).load(.example).statusNow == .ok)
        let least = RateLimit(requestsPerSecond: rate, burst: -5, clock: clock)
        let one = least --> stub
        #expect(one.load(.example).statusNow == .ok && one.load(.example).peek() == nil && least.waitingCount == 1)
    }

    @Test func `an endless rate limits nothing`() {
        let chain = RateLimit(requestsPerSecond: .infinity, clock: clock) --> stub
        for _ in 0..<100 { #expect(chain.load(.example).statusNow == .ok) }
    }

    @Test func `a bucket agrees with a simple model`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let (rate, burst) = (Double.random(in: 0.5...20, using: &random), Int.random(in: 1...5, using: &random))
            var machine = RateLimitStateMachine(requestsPerSecond: rate, burst: burst)
            var (tokens, last, now) = (Double(burst), 0.0, 0.0)
            for _ in 0..<50 {
                now += Double.random(in: 0...0.5, using: &random)
                tokens = min(Double(burst), tokens + (now - last) * rate)
                last = now
                // Where rounding decides, both outcomes are right.
                let isClose = abs(tokens - 1) < 1e-6
                guard machine.waitingCount == 0 else { break }
                let passes = machine.arrived(0, at: .seconds(now))
                #expect(passes == (tokens >= 1) || isClose)
                if passes { tokens -= 1 } else { break }
            }
        }
    }

    @Test func `tickets that were cancelled are skipped, and counted once`() {
        var machine = RateLimitStateMachine(requestsPerSecond: 1, burst: 1)
        let passes = machine.arrived(0, at: .zero)
        let tickets = (1...100 as ClosedRange<UInt64>).filter { !machine.arrived($0, at: .zero) }
        #expect(passes && tickets.count == 100 && machine.waitingCount == 100)
        for ticket in tickets where ticket != tickets[70] {
            let (first, second) = (machine.cancelled(ticket), machine.cancelled(ticket))
            #expect(first && !second)
        }
        #expect(machine.waitingCount == 1)
        let (pause, early, next) = (
            machine.startTimer(at: .zero), machine.next(at: .milliseconds(999)), machine.next(at: .seconds(1))
        )
        #expect(pause == .seconds(1) && early == nil && next == tickets[70])
        machine.timerEnded()
        let (end, late) = (machine.startTimer(at: .seconds(1)), machine.cancelled(tickets[70]))
        #expect(machine.waitingCount == 0 && end == nil && !late)
    }

    @Test func `a ticket that went on can't be cancelled, and nothing goes on when none waits`() {
        var machine = RateLimitStateMachine(requestsPerSecond: 1, burst: 1)
        let passes = (1...3).map { machine.arrived($0, at: .zero) }
        #expect(passes == [true, false, false])
        let (first, isCancelled) = (machine.next(at: .seconds(1)), machine.cancelled(2))
        #expect(first == 2 && !isCancelled && machine.waitingCount == 1)
        let (second, none) = (machine.next(at: .seconds(2)), machine.next(at: .seconds(3)))
        #expect(second == 3 && none == nil && machine.waitingCount == 0)
    }

    @Test func `a token that nobody waits for stays in the bucket`() {
        var machine = RateLimitStateMachine(requestsPerSecond: 1, burst: 1)
        let (none, passes) = (machine.next(at: .zero), machine.arrived(1, at: .zero))
        #expect(none == nil && passes)
    }

    @Test func `one timer serves all that wait`() {
        var machine = RateLimitStateMachine(requestsPerSecond: 1, burst: 1)
        let (none, passes) = (machine.startTimer(at: .zero), machine.arrived(1, at: .zero))
        let waits = [machine.arrived(2, at: .zero), machine.arrived(3, at: .zero)]
        #expect(none == nil && passes && waits == [false, false])
        let (first, second) = (machine.startTimer(at: .zero), machine.startTimer(at: .zero))
        #expect(first == .seconds(1) && second == nil)
        machine.timerEnded()
        #expect(machine.startTimer(at: .milliseconds(250)) == .milliseconds(750))
    }
}
