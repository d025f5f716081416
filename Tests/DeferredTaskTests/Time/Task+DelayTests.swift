import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TaskDelayTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `it ends as the task does, that long afterwards`() async throws {
        for ending in [Task<Int>.Result.success(1), .failure(TimeoutError(duration: .zero))] {
            let (producer, clock) = (Producer(), ManualClock())
            let task = Task(producer).delay(for: .seconds(2), clock: clock)
            clock.advance(by: .seconds(10))
            producer.fill(with: ending)
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            #expect(task.peek() == nil)
            clock.advance(by: .seconds(1))
            let result = await task.result
            #expect((try? result.get()) == (try? ending.get()))
        }
    }

    @Test func `cancelled in the pause, it ends at once`() async throws {
        let clock = ManualClock()
        let task = Task.success(1).delay(for: .seconds(2), clock: clock)
        try await clock.waitForSleepers()
        task.cancel()
        #expect(task.failureNow is CancellationError)
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `cancelled before, it cancels the task, and no pause begins`() {
        let (producer, clock, log) = (Producer(), ManualClock(), Log<String>())
        let task = Task(producer) { log.add("handler") }.delay(for: .seconds(2), clock: clock)
        task.cancel()
        producer.succeed(with: 1)
        #expect(task.failureNow is CancellationError)
        #expect(log.entries == ["handler"])
        #expect(clock.sleeperCount == 0)
    }

    @Test func `it continues although nobody holds the task`() async throws {
        let (clock, done) = (ManualClock(), Deferred<Int?>())
        Task.success(1).delay(for: .seconds(2), clock: clock).upon(.immediate) { done.fill(with: try? $0.get()) }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(2))
        #expect(await done.value == 1)
    }
}
