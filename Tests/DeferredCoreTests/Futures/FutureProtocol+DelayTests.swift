import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.timeLimit(.minutes(1)))
struct FutureProtocolDelayTests {
    @Test func `the value comes that long after the future is filled`() async {
        let clock = TestClock()
        let deferred = Deferred<Int>()
        let delayed = deferred.delay(for: .seconds(5), clock: clock)
        clock.advance(by: .seconds(100))
        #expect(!clock.hasSleepers)
        deferred.fill(with: 1)
        await clock.isSleeping.value
        clock.advance(by: .milliseconds(4999))
        #expect(clock.hasSleepers && delayed.peek() == nil)
        clock.advance(by: .milliseconds(1))
        #expect(await delayed.value == 1)
    }

    @Test func `a future that is filled already is delayed from now`() async {
        let clock = TestClock()
        let delayed = Future(value: 1).delay(for: .seconds(5), clock: clock)
        await clock.isSleeping.value
        #expect(delayed.peek() == nil)
        clock.advance(by: .seconds(5))
        #expect(await delayed.value == 1)
    }

    @Test func `the delay counts from the fill, not from when the pause begins`() async {
        let clock = TestClock()
        let delayed = Future(value: 1).delay(for: .seconds(5), clock: clock)
        clock.advance(by: .seconds(5))
        #expect(await delayed.value == 1)
    }

    @Test func `no delay, and one of less than nothing, still fill`() async {
        #expect(await Future(value: 1).delay(for: .zero).value == 1)
        #expect(await Future(value: 1).delay(for: .seconds(-1)).value == 1)
        #expect(await Future(value: 1).delay(for: .nanoseconds(1)).map { $0 + 1 }.value == 2)
    }

    @Test func `a future that goes unfilled takes its delay with it`() {
        let lifetimes = Lifetimes()
        do {
            let deferred = Deferred<Int>()
            deferred.delay(for: .seconds(5)).upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `after the delay nothing is kept but the value`() async {
        let lifetimes = Lifetimes()
        let clock = TestClock()
        let handled = Deferred<Void>()
        Future(value: lifetimes.make()).delay(for: .seconds(5), clock: clock).upon(.immediate) { _ in handled.fill() }
        await clock.isSleeping.value
        #expect(lifetimes.count == 1)
        clock.advance(by: .seconds(5))
        await handled.value
        // The task that waited ends a moment after it has filled.
        while lifetimes.count > 0 { await Task.yield() }
    }
}

/// Stands still until told to advance.
private final class TestClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset = Duration.zero
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct State {
        var now = Instant()
        var sleepers: [(until: Instant, wake: Deferred<Void>)] = []
    }

    private let state = Lock(State())
    /// Filled when somebody sleeps for the first time.
    let isSleeping = Deferred<Void>()

    var now: Instant { state.withLock { $0.now } }
    let minimumResolution = Duration.nanoseconds(1)
    var hasSleepers: Bool { state.withLock { !$0.sleepers.isEmpty } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let wake = Deferred<Void>()
        let isDue = state.withLock { state in
            if deadline <= state.now { return true }
            state.sleepers.append((deadline, wake))
            return false
        }
        if isDue { return }
        isSleeping.fill()
        await wake.value
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.until <= state.now }
            state.sleepers.removeAll { $0.until <= state.now }
            return due.map(\.wake)
        }
        for wake in due { wake.fill() }
    }
}
