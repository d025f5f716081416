import DeferredTask
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RetryPolicyTests {
    @Test func `pauses double up to the cap`() {
        let policy = RetryPolicy(attempts: 9, base: .milliseconds(100), cap: .seconds(1), random: { 1 })
        let pauses = (1...6).map { policy.pause(after: $0) }
        #expect(
            pauses == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)] + [
                .seconds(1), .seconds(1),
            ]
        )
    }

    @Test func `jitter takes a random part of each`() {
        let policy = RetryPolicy(attempts: 9, base: .milliseconds(100), random: { 0.25 })
        #expect(policy.pause(after: 2) == .milliseconds(50))
        #expect(RetryPolicy(attempts: 2, random: { 0 }).pause(after: 1) == .zero)
        // Random numbers outside of the range are clamped.
        #expect(RetryPolicy(attempts: 2, base: .seconds(1), random: { 7 }).pause(after: 1) == .seconds(1))
        let real = RetryPolicy(attempts: 2, base: .seconds(1))
        for _ in 0..<100 { #expect((.zero..<Duration.seconds(1)).contains(real.pause(after: 1))) }
    }

    @Test func `extremes neither overflow nor take long`() {
        let most = Duration.seconds(Int64.max)
        #expect(RetryPolicy(attempts: .max, base: .seconds(1), cap: most, random: { 1 }).pause(after: .max) == most)
        #expect(RetryPolicy(attempts: .max, base: .zero, cap: most, random: { 1 }).pause(after: .max) == .zero)
        #expect(
            RetryPolicy(attempts: 2, base: .seconds(9), cap: .seconds(1), random: { 1 }).pause(after: 1) == .seconds(1)
        )
    }

    #if os(macOS) || os(Linux)
    @Test func `no attempt at all is refused`() async {
        let results = [
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = RetryPolicy(attempts: 0)
            },
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                var policy = RetryPolicy(attempts: 1)
                policy.attempts = 0
            },
        ]
        for result in results {
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("RetryPolicy(attempts: 0) would make no attempt; use 1 or more"))
        }
    }
    #endif
}
