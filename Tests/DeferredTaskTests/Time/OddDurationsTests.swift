import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

/// Tests that no duration and no random number traps in any operator.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct OddDurationsTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    private static let most = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
    static let now: [Duration] = [
        .zero, .nanoseconds(1), Duration(attoseconds: 1), .nanoseconds(-1), .seconds(-1), .seconds(Int64.min),
        Duration(attoseconds: .min), Duration(secondsComponent: .min, attosecondsComponent: -999_999_999_999_999_999),
    ]
    static let never: [Duration] = [
        .seconds(1 << 32), .seconds(Int64.max), .milliseconds(Int64.max), most, Duration(attoseconds: .max),
    ]
    static let clocks: [any Clock<Duration>] = [ContinuousClock(), SuspendingClock(), ManualClock()]

    /// Advances a manual clock past deadlines of at most a nanosecond.
    private func pass(_ clock: any Clock<Duration>, _ duration: Duration) {
        guard let clock = clock as? ManualClock, duration > .zero else { return }
        clock.sleepers().upon(.any()) { clock.advance(by: .nanoseconds(1)) }
    }

    private func count(_ clock: any Clock<Duration>) -> Int { (clock as? ManualClock)?.sleeperCount ?? 0 }

    @Test(arguments: now, clocks)
    func `durations of zero or hardly more end at once`(_ duration: Duration, _ clock: any Clock<Duration>) async {
        pass(clock, duration)
        #expect(await Future(value: 1).delay(for: duration, clock: clock).value == 1)
        pass(clock, duration)
        #expect(try! await Task.success(1).delay(for: duration, clock: clock).value == 1)
        pass(clock, duration)
        let late = Task(Producer()).timeout(after: duration, clock: clock)
        await #expect(throws: TimeoutError(duration: duration)) { try await late.value }
        pass(clock, duration)
        let policy = RetryPolicy(attempts: 2, base: duration, cap: duration, clock: clock, random: { 1 })
        let second = Task<Int>.retry(policy) { $0 == 1 ? .failure(Failure()) : .success($0) }
        #expect(try! await second.value == 2)
        pass(clock, duration)
        let (source, cancelled) = (CancellationTokenSource(), Deferred<Void>())
        source.token.register { cancelled.fill() }
        let registration = source.cancel(after: duration, on: clock)
        await cancelled.value
        #expect(source.isCancelled && !registration.isCancelled)
    }

    @Test(arguments: never, clocks)
    func `durations that no clock can hold never end, cost nothing, and can be cancelled`(
        _ duration: Duration,
        _ clock: any Clock<Duration>
    ) {
        let lifetimes = Lifetimes()
        do {
            let delayed = Future(value: lifetimes.make()).delay(for: duration, clock: clock)
            #expect(delayed.peek() == nil && lifetimes.count == 0)

            let later = Task.success(1).delay(for: duration, clock: clock)
            #expect(later.peek() == nil)
            later.cancel()
            #expect(later.failureNow is CancellationError)

            let producer = Deferred<Task<Lifetimes.Token>.Result>()
            let inTime = Task(producer).timeout(after: duration, clock: clock)
            #expect(inTime.peek() == nil)
            producer.succeed(with: lifetimes.make())
            #expect(inTime.valueNow != nil)

            let token = lifetimes.make()
            let policy = RetryPolicy(attempts: 2, base: duration, cap: duration, clock: clock, random: { 1 })
            let retried = Task<Int>.retry(policy) { attempt in
                token.touch()
                if attempt > 1 { Issue.record("tried again") }
                return .failure(Failure())
            }
            #expect(retried.peek() == nil)
            retried.cancel()
            #expect(retried.failureNow is CancellationError)

            let source = CancellationTokenSource()
            let registration = source.cancel(after: duration, on: clock)
            registration.cancel()
            #expect(registration.isCancelled && !source.isCancelled)
        }
        #expect(lifetimes.count == 0 && count(clock) == 0)
    }

    @Test(arguments: now + never)
    func `a policy of any numbers has a pause, which is not negative`(_ duration: Duration) {
        for part in [
            Double.nan, .infinity, -.infinity, -1, 0, -0.0, 0.5, 1, 1.5, .greatestFiniteMagnitude, 1.0.nextDown,
        ] {
            for attempt in [Int.min, -1, 0, 1, 2, 100, 1_000, Int.max] {
                for (base, cap) in [(duration, duration), (.seconds(1), duration), (duration, .seconds(1))] {
                    let pause = RetryPolicy(attempts: 1, base: base, cap: cap, random: { part }).pause(after: attempt)
                    #expect(pause >= .zero && pause <= max(cap, .zero))
                    if part.isNaN { #expect(pause >= min(base, cap)) }
                }
            }
        }
    }

    @Test(arguments: now + never) func `an error can describe any duration`(_ duration: Duration) {
        #expect(TimeoutError(duration: duration).description.hasSuffix("seconds"))
    }
}

private struct Failure: Error {}

extension CancellationTokenSource {
    fileprivate func cancel(after duration: Duration, on clock: some Clock<Duration>) -> Registration {
        cancel(after: duration, clock: clock)
    }
}
