import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FractionTests {
    @Test func `fractions stay within 0 and 1`() {
        #expect([-1, -0.0, 0.5, 1, 2, .nan].map(Fraction.clamped) == [0, 0, 0.5, 1, 1, 0])
    }
}
