import Deferred
import DeferredAsyncHTTPClient
import DeferredTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SilenceTimerTests {
    @Test func `only silence counts`() async throws {
        let clock = ManualClock()
        let timer = SilenceTimer(limit: .seconds(2), clock: clock)
        let end = Task<Void> { try await timer.end() }
        for _ in 1...10 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            timer.touch()
        }
        #expect(!end.isFilled)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await end.value }
    }
}
