import TestSupport
import Testing

@testable import DeferredCore

@Suite("Stopwatch", .ownThread, .timeLimit(.minutes(1)))
struct StopwatchTests {
    /// Advances by a second each time it is read, and notes when its sleepers are to wake.
    private struct HastyClock: Clock {
        typealias Instant = ContinuousClock.Instant

        let start = ContinuousClock.now
        let reads = Log<Void>()
        let deadlines = Log<Instant>()
        var minimumResolution: Duration { .zero }

        var now: Instant {
            reads.add(())
            return start.advanced(by: .seconds(reads.entries.count))
        }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws { deadlines.add(deadline) }
    }

    @Test func `a timer counts from the beginning, whatever the clock does meanwhile`() async throws {
        let clock = HastyClock()
        let stopwatch = Stopwatch(clock)
        #expect(stopwatch.elapsed == .seconds(1) && stopwatch.elapsed == .seconds(2))
        let fired = Deferred<Void>()
        _ = stopwatch.timer(at: .seconds(10)) { fired.fill() }
        await fired.value
        #expect(clock.deadlines.entries == [clock.start.advanced(by: .seconds(11))])
    }

    @Test func `a time that has passed is now, and one that never comes has no timer`() async {
        let stopwatch = Stopwatch(ContinuousClock())
        let (fired, lifetimes) = (Deferred<Void>(), Lifetimes())
        _ = stopwatch.timer(at: .seconds(-1)) { fired.fill() }
        await fired.value
        _ = stopwatch.timer(at: .forever) { [token = lifetimes.make()] in token.touch() }
        #expect(lifetimes.count == 0)
    }
}
