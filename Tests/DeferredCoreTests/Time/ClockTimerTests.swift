import DeferredTesting
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ClockTimerTests {
    @Test func `durations of any size have a deadline, or mean never`() {
        let now = ContinuousClock.now
        let past: [Duration] = [.zero, .nanoseconds(-1), .seconds(Int64.min), Duration(attoseconds: .min)]
        for duration in past { #expect(now.deadline(after: duration) == now) }
        let future: [Duration] = [Duration(attoseconds: 1), .nanoseconds(1), .seconds(1 << 32) - .nanoseconds(1)]
        for duration in future { #expect(now.deadline(after: duration) == now + duration) }
        let most = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        let never: [Duration] = [.seconds(1 << 32), .seconds(Int64.max), most, Duration(attoseconds: .max)]
        for duration in never { #expect(now.deadline(after: duration) == nil) }
        // Durations of another type have no limit.
        #expect(Ticks.Instant(tick: 1).deadline(after: .init(ticks: .max - 1))?.tick == .max)
        #expect(Ticks.Instant(tick: 1).deadline(after: .init(ticks: -1))?.tick == 1)
    }

    @Test func `never costs nothing, and frees the closure at once`() {
        let (lifetimes, clock, future) = (Lifetimes(), ManualClock(), FutureStorage<Void>())
        let timers = [
            ClockTimer(after: .forever, clock: ContinuousClock()) { [token = lifetimes.make()] in token.touch() },
            ClockTimer(after: .forever, clock: clock) { [token = lifetimes.make()] in token.touch() },
            ClockTimer(after: .forever, clock: clock, unless: future) { [token = lifetimes.make()] in token.touch() },
        ]
        #expect(lifetimes.count == 0 && clock.sleeperCount == 0 && !future.hasHandlers)
        for timer in timers {
            #expect(!timer.registration.isCancelled)
            timer.cancel()
            #expect(timer.registration.isCancelled)
        }
    }

    @Test func `now leaves the thread, on every clock`() async {
        for clock in [ContinuousClock(), SuspendingClock(), ManualClock()] as [any Clock<Duration>] {
            for duration in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
                let (called, held) = (Deferred<Bool>(), Held())
                // If this called the closure at once, it would deadlock.
                held.lock.withLock { _ in
                    _ = ClockTimer(after: duration, clock: clock) {
                        held.lock.withLock { _ in }
                        called.fill(with: true)
                    }
                }
                #expect(await called.value)
            }
        }
    }

    @Test(arguments: [true, false])
    func `a cancelled closure is freed at once, and never starts`(isContinuous: Bool) async throws {
        let (clock, lifetimes) = (ManualClock(), Lifetimes())
        let any: any Clock<Duration> = isContinuous ? ContinuousClock() : clock
        let timer = ClockTimer(after: .seconds(60), clock: any) { [token = lifetimes.make()] in
            token.touch()
            Issue.record("called")
        }
        if !isContinuous { try await clock.waitForSleepers() }
        timer.cancel()
        #expect(lifetimes.count == 0 && timer.registration.isCancelled)
        clock.advance(by: .seconds(60))
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `cancelling after the call changes nothing`() async {
        for clock in [ContinuousClock(), SuspendingClock()] as [any Clock<Duration>] {
            let called = Deferred<Void>()
            let timer = ClockTimer(after: .nanoseconds(1), clock: clock) { called.fill() }
            await called.value
            timer.cancel()
            #expect(!timer.registration.isCancelled)
        }
    }

    @Test(arguments: [true, false])
    func `in a race with a future, whichever comes first releases the other`(isContinuous: Bool) async throws {
        let (clock, lifetimes) = (ManualClock(), Lifetimes())
        let any: any Clock<Duration> = isContinuous ? ContinuousClock() : clock
        func start(_ duration: Duration, beside future: FutureStorage<Int>) -> ClockTimer {
            ClockTimer(after: duration, clock: any, unless: future) { [weak future, token = lifetimes.make()] in
                token.touch()
                _ = future?.fill(with: 1)
            }
        }
        do {
            let future = FutureStorage<Int>()
            let timer = start(.seconds(60), beside: future)
            #expect(lifetimes.count == 1)
            #expect(future.fill(with: 2))
            #expect(lifetimes.count == 0 && !timer.registration.isCancelled)
            #expect(start(.seconds(60), beside: future).registration.isCancelled == false && lifetimes.count == 0)
        }
        do {
            let future = FutureStorage<Int>()
            let timer = start(.seconds(60), beside: future)
            timer.cancel()
            #expect(lifetimes.count == 0 && timer.registration.isCancelled && !future.hasHandlers)
        }
        do {
            _ = start(.seconds(60), beside: FutureStorage<Int>())
            #expect(lifetimes.count == 0)
        }
        do {
            let future = FutureStorage<Int>()
            let timer = start(.zero, beside: future)
            #expect(await Future(future).value == 1)
            #expect(!timer.registration.isCancelled)
            try await eventually { lifetimes.count == 0 }
        }
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `of a timer on another clock nothing stays when it has called`() async throws {
        let clock = ManualClock()
        weak var node: HandlerNode?
        do {
            let called = Deferred<Void>()
            let timer = ClockTimer(after: .seconds(1), clock: clock) { called.fill() }
            node = timer.registration.node
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            await called.value
        }
        try await eventually { node == nil }
    }

    @Test func `a clock that has the instants of the continuous one, and is not, is slept on`() async throws {
        let clock = Shifted()
        let timer = ClockTimer(after: .seconds(3_600), clock: clock) {}
        try await clock.slept.get()
        timer.cancel()
    }

    #if os(macOS) || os(Linux)
    @Test func `a million cancelled timers leave nothing`() async {
        await #expect(processExitsWith: .success) {
            func rounds(_ count: Int) {
                for _ in 0..<count { ClockTimer(after: .seconds(3_600), clock: ContinuousClock()) {}.cancel() }
            }
            rounds(10_000)
            let before = residentMemory()
            rounds(isSanitized ? 100_000 : 1_000_000)
            let growth = residentMemory() - before
            precondition(isSanitized || growth < 4 << 20, "\(growth) bytes more than before")
            precondition(TimerQueue.shared.count == 0)
        }
    }
    #endif
}

private final class Held: Sendable {
    let lock = Lock(())
}

/// A clock that reports the start of a sleep.
private struct Shifted: Clock {
    let slept = Deferred<Void>()

    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        slept.fill()
        try await Task.sleep(until: deadline, clock: .continuous)
    }
}

/// A duration and an instant that count ticks.
private enum Ticks {
    struct Duration: DurationProtocol {
        var ticks: Int
        static var zero: Duration { Duration(ticks: 0) }
        static func < (one: Duration, other: Duration) -> Bool { one.ticks < other.ticks }
        static func + (one: Duration, other: Duration) -> Duration { Duration(ticks: one.ticks + other.ticks) }
        static func - (one: Duration, other: Duration) -> Duration { Duration(ticks: one.ticks - other.ticks) }
        static func / (one: Duration, other: Int) -> Duration { Duration(ticks: one.ticks / other) }
        static func * (one: Duration, other: Int) -> Duration { Duration(ticks: one.ticks * other) }
        static func / (one: Duration, other: Duration) -> Double { Double(one.ticks) / Double(other.ticks) }
    }

    struct Instant: InstantProtocol {
        var tick: Int
        func advanced(by duration: Duration) -> Instant { Instant(tick: tick + duration.ticks) }
        func duration(to other: Instant) -> Duration { Duration(ticks: other.tick - tick) }
        static func < (one: Instant, other: Instant) -> Bool { one.tick < other.tick }
    }
}
