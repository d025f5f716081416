import DeferredTask
import TestSupport
import Testing

@Suite("Rate meter", .ownThread, .timeLimit(.minutes(1)))
struct RateMeterTests {
    @Test func `without two points in time there is no rate`() {
        var meter = RateMeter()
        #expect(meter.rate == nil)
        meter.record(100, at: .seconds(1))
        #expect(meter.rate == nil)
        meter.record(200, at: .seconds(1))
        #expect(meter.rate == nil)
    }

    @Test func `a steady flow has its rate, from any beginning`() {
        var meter = RateMeter()
        for tick in 0...100 {
            meter.record(5_000 + Int64(tick) * 10, at: .milliseconds(tick * 100))
        }
        #expect(meter.rate == 100)
    }

    @Test func `reports before the window are forgotten`() {
        var meter = RateMeter(window: .seconds(2))
        meter.record(0, at: .zero)
        meter.record(1_000_000, at: .seconds(1))
        for second in 2...5 {
            meter.record(1_000_000, at: .seconds(second))
        }
        #expect(meter.rate == 0)
    }

    @Test func `after a long gap the rate spans the gap`() {
        var meter = RateMeter(window: .seconds(2))
        meter.record(0, at: .zero)
        meter.record(1_000, at: .seconds(10))
        #expect(meter.rate == 100)
    }
}
