import DeferredCore
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ManualClockTests {
    @Test func `it stands still until advanced`() {
        let clock = ManualClock()
        #expect(clock.now == ManualClock.Instant())
        #expect(clock.now == clock.now)
        clock.advance(by: .seconds(2))
        #expect(clock.now.offset == .seconds(2))
        clock.advance(by: .zero)
        clock.advance(to: .init(offset: .seconds(1)))
        #expect(clock.now.offset == .seconds(2))
        clock.advance(to: .init(offset: .seconds(3)))
        #expect(clock.now.offset == .seconds(3))
        #expect(!clock.advanceToNextDeadline())
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func `its instants add up`() {
        let (start, end) = (ManualClock.Instant(), ManualClock.Instant(offset: .seconds(2)))
        #expect(start < end && !(end < start) && start != end)
        #expect(start.advanced(by: .seconds(2)) == end)
        #expect(start.duration(to: end) == .seconds(2))
        #expect(end.duration(to: start) == .seconds(-2))
    }

    @Test func `its resolution is the one given when it is created`() {
        #expect(ManualClock().minimumResolution == .nanoseconds(1))
        #expect(ManualClock(minimumResolution: .milliseconds(1)).minimumResolution == .milliseconds(1))
    }

    @Test func `due sleepers wake, and none before`() async throws {
        let clock = ManualClock()
        let woken = Deferred<Void>()
        Task {
            try await clock.sleep(for: .seconds(5))
            woken.fill()
        }
        try await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .seconds(5))
        clock.advance(by: .milliseconds(4999))
        #expect(clock.sleeperCount == 1 && !woken.isFilled)
        clock.advance(by: .milliseconds(1))
        #expect(clock.sleeperCount == 0 && clock.nextDeadline == nil)
        await woken.value
    }

    @Test func `a sleeper that is already due does not sleep`() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        try await clock.sleep(for: .zero)
        try await clock.sleep(for: .seconds(-1))
        try await clock.sleep(until: clock.now, tolerance: .seconds(1))
        try await Task.sleep(until: clock.now, clock: clock)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a loop of sleeps is followed step by step`() async throws {
        let clock = ManualClock()
        let ticks = Log<Duration>()
        let task = Task {
            for _ in 0..<3 {
                try await clock.sleep(for: .seconds(10))
                ticks.add(clock.now.offset)
            }
        }
        for _ in 0..<3 {
            try await clock.waitForSleepers()
            #expect(clock.advanceToNextDeadline())
        }
        try await task.value
        #expect(ticks.entries == [.seconds(10), .seconds(20), .seconds(30)])
    }

    @Test func `a thread can wait for sleepers, also for those that sleep already`() {
        let clock = ManualClock()
        let both = clock.sleepers(2)
        #expect(!both.isFilled)
        for seconds in 1...2 { Task { try await clock.sleep(for: .seconds(seconds)) } }
        both.wait()
        #expect(clock.sleepers(2).isFilled && clock.sleepers(0).isFilled && !clock.sleepers(3).isFilled)
        clock.advance(by: .seconds(2))
        #expect(!clock.sleepers().isFilled)
    }

    @Test func `waiting for sleepers ends when the task that waits is cancelled`() async {
        let clock = ManualClock()
        let task = Task { try await clock.waitForSleepers() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    #if os(Linux) || os(macOS)
    @Test func `it refuses to go back`() async {
        await #expect(processExitsWith: .failure) { ManualClock().advance(by: .seconds(-1)) }
    }
    #endif
}
