import DeferredCore
import DeferredTesting
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FutureProtocolDelayTests {
    @Test func `the value comes that long after the future is filled`() async throws {
        let clock = ManualClock()
        let deferred = Deferred<Int>()
        let delayed = deferred.delay(for: .seconds(5), clock: clock)
        clock.advance(by: .seconds(100))
        #expect(clock.sleeperCount == 0)
        deferred.fill(with: 1)
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(4999))
        #expect(clock.sleeperCount == 1 && delayed.peek() == nil)
        clock.advance(by: .milliseconds(1))
        #expect(await delayed.value == 1)
    }

    @Test func `a future that breaks its contract, and calls its handlers twice, is delayed once`() async {
        let delayed = CallsTwice().delay(for: .zero)
        let later = delayed.delay(for: .milliseconds(1))
        // Two timers of no time at all end in either order.
        let value = await delayed.value
        #expect((1...2).contains(value))
        #expect(await later.value == value)
    }

    @Test func `a future that is filled already is delayed from now`() async throws {
        let clock = ManualClock()
        let delayed = Future(value: 1).delay(for: .seconds(5), clock: clock)
        try await clock.waitForSleepers()
        #expect(delayed.peek() == nil)
        clock.advance(by: .seconds(5))
        #expect(await delayed.value == 1)
    }

    @Test func `the delay counts from the fill, not from when the pause begins`() async {
        let clock = ManualClock()
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

    @Test func `after the delay nothing is kept but the value`() async throws {
        let lifetimes = Lifetimes()
        let clock = ManualClock()
        let handled = Deferred<Void>()
        Future(value: lifetimes.make()).delay(for: .seconds(5), clock: clock).upon(.immediate) { _ in handled.fill() }
        try await clock.waitForSleepers()
        #expect(lifetimes.count == 1)
        clock.advance(by: .seconds(5))
        await handled.value
        // The task that waited ends a moment after it has filled the future.
        try await eventually { lifetimes.count == 0 }
    }
}

private struct CallsTwice: FutureProtocol {
    func upon(_ executor: some Executor, execute body: @escaping @Sendable (Int) -> Void) -> Registration {
        for value in 1...2 { executor.submit { body(value) } }
        return Registration {}
    }

    func peek() -> Int? { 1 }
}
