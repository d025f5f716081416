import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SaturatingTests {
    @Test func `sums and differences stop at the limits of the type`() {
        #expect(Int64.max.addingSaturated(1) == .max && Int64.min.addingSaturated(-1) == .min)
        #expect(Int64.max.subtractingSaturated(-1) == .max && Int64.min.subtractingSaturated(1) == .min)
        #expect(Int64(2).addingSaturated(-3) == -1 && Int64(2).subtractingSaturated(-3) == 5)
    }

    @Test func `fractions stay within 0 and 1`() {
        #expect([-1, -0.0, 0.5, 1, 2, .nan].map(Fraction.clamped) == [0, 0, 0.5, 1, 1, 0])
    }
}
