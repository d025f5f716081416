import DeferredCore
import DeferredTask
import TestSupport
import Testing

/// Tests that a timer which is cancelled early leaves nothing behind, on the default clock.
///
/// A sleeping Swift task would stay in the runtime until its deadline: 730 bytes each, and 2.2 kB for a source's.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TimerMemoryTests {
    #if os(macOS) || os(Linux)
    @Test func `100,000 time-outs of tasks that end in time`() async {
        await #expect(processExitsWith: .success) {
            expectFlat(100_000) {
                let producer = Deferred<Task<Int>.Result>()
                let task = Task(producer).timeout(after: .seconds(3_600))
                producer.succeed(with: 1)
                precondition(task.isFilled)
            }
        }
    }

    @Test func `100,000 sources whose timers are cancelled`() async {
        await #expect(processExitsWith: .success) {
            let source = CancellationTokenSource()
            expectFlat(100_000) { source.cancel(after: .seconds(3_600)).cancel() }
            precondition(!source.isCancelled)
        }
    }

    @Test func `100,000 sources that go before their timers`() async {
        await #expect(processExitsWith: .success) {
            expectFlat(100_000) { CancellationTokenSource().cancel(after: .seconds(3_600)) }
        }
    }

    @Test func `100,000 sources that are cancelled before their timers`() async {
        await #expect(processExitsWith: .success) {
            expectFlat(100_000) {
                let source = CancellationTokenSource()
                source.cancel(after: .seconds(3_600))
                source.cancel()
            }
        }
    }

    @Test func `pauses between attempts, and delays, that are cancelled`() async {
        await #expect(processExitsWith: .success) {
            let policy = RetryPolicy(attempts: 2, base: .seconds(3_600), cap: .seconds(3_600), random: { 1 })
            expectFlat(100_000) {
                Task<Int>.retry(policy) { _ in .failure(TimeoutError(duration: .zero)) }.cancel()
                Task.success(1).delay(for: .seconds(3_600)).cancel()
            }
        }
    }
    #endif
}

/// Traps if repeating `body` increases memory use.
private func expectFlat(_ rounds: Int, _ body: () -> Void) {
    for _ in 0..<10_000 { body() }
    let before = residentMemory()
    for _ in 0..<(isSanitized ? rounds / 10 : rounds) { body() }
    let growth = residentMemory() - before
    // The smallest object takes 32 bytes.
    precondition(isSanitized || growth < 28 * rounds, "\(growth) bytes more than before, after \(rounds) rounds")
}
