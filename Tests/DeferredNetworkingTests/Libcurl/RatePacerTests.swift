#if os(Linux)
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RatePacerTests {
    private let start = ContinuousClock.now

    @Test func `bytes are followed by the time that they take at the limit`() {
        var pacer = RatePacer(limit: 1_000)
        #expect(pacer.took(100, at: start) == start + .milliseconds(100))
        #expect(pacer.took(50, at: start + .milliseconds(100)) == start + .milliseconds(150))
        // A pause that was too long counts.
        #expect(pacer.took(100, at: start + .milliseconds(200)) == start + .milliseconds(250))
    }

    @Test func `short pauses gather`() {
        var pacer = RatePacer(limit: 1_000)
        #expect(pacer.took(2, at: start) == nil && pacer.took(2, at: start) == nil)
        #expect(pacer.took(2, at: start) == start + .milliseconds(6))
    }

    @Test func `a slow server may catch up on an eighth of a second`() {
        var pacer = RatePacer(limit: 1_000)
        #expect(pacer.took(1, at: start) == nil)
        let later = start + .seconds(60)
        #expect(pacer.took(125, at: later) == nil)
        #expect(pacer.took(100, at: later) == later + .milliseconds(100))
    }

    @Test func `pieces are an eighth of a second, in the limits of libcurl`() {
        #expect(RatePacer.pieceSize(nil, atMost: 256 << 10) == 256 << 10)
        #expect(RatePacer.pieceSize(80_000, atMost: 256 << 10) == 10_000)
        #expect(RatePacer.pieceSize(1, atMost: 256 << 10) == 1_024)
        #expect(RatePacer.pieceSize(.max, atMost: 256 << 10) == 256 << 10)
    }

    @Test func `no numbers are too large or too small`() {
        var (slow, fast) = (RatePacer(limit: 1), RatePacer(limit: .max))
        #expect(slow.took(1 << 20, at: start) == start + .seconds(1 << 20))
        #expect(fast.took(.max, at: start) == start + .seconds(1))
    }
}
#endif
