import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct RetryTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    private func policy(
        _ attempts: Int,
        _ clock: ManualClock,
        isRetryable: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> RetryPolicy {
        RetryPolicy(attempts: attempts, base: .seconds(1), clock: clock, random: { 1 }, isRetryable: isRetryable)
    }

    @Test func `it tries again after each pause, until one succeeds`() async throws {
        let (clock, log) = (ManualClock(), Log<Int>())
        let task = Task.retry(policy(4, clock)) { attempt in
            log.add(attempt)
            if attempt == 1 { throw Failure.thrown }
            return attempt < 3 ? .failure(Failure.failed) : .success(attempt * 10)
        }
        #expect(log.entries == [1])
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers()
        #expect(log.entries == [1, 2])
        clock.advance(by: .seconds(1))
        #expect(task.peek() == nil)
        clock.advance(by: .seconds(1))
        #expect(try await task.value == 30)
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `the last failure is the task's`() async throws {
        let (clock, log) = (ManualClock(), Log<Int>())
        let task = Task<Int>.retry(policy(2, clock)) { attempt in
            log.add(attempt)
            return .failure(attempt == 1 ? Failure.failed : Failure.thrown)
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await #expect(throws: Failure.thrown) { try await task.value }
        #expect(log.entries == [1, 2])
    }

    @Test func `an error that is not retryable, and a cancellation, end it`() {
        let clock = ManualClock()
        let refused = Task<Int>.retry(policy(5, clock) { $0 as? Failure != .failed }) { _ in .failure(Failure.failed) }
        #expect(refused.failureNow as? Failure == .failed)
        let cancelled = Task<Int>.retry(policy(5, clock)) { _ in .failure(CancellationError()) }
        #expect(cancelled.failureNow is CancellationError)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `cancelled while an attempt runs, it cancels that, and starts no more`() {
        let (clock, log, producer) = (ManualClock(), Log<String>(), Producer())
        let task = Task.retry(policy(5, clock)) { attempt in
            log.add("start \(attempt)")
            return Task(producer) { log.add("cancel") }
        }
        task.cancel()
        #expect(task.failureNow is CancellationError)
        producer.fail(with: Failure.failed)
        #expect(log.entries == ["start 1", "cancel"])
        #expect(clock.sleeperCount == 0)
    }

    @Test func `cancelled in the pause, it ends at once, and starts no more`() async throws {
        let (clock, log) = (ManualClock(), Log<Int>())
        let task = Task<Int>.retry(policy(5, clock)) { attempt in
            log.add(attempt)
            return .failure(Failure.failed)
        }
        try await clock.waitForSleepers()
        task.cancel()
        #expect(task.failureNow is CancellationError)
        try await eventually { clock.sleeperCount == 0 }
        clock.advance(by: .seconds(100))
        #expect(log.entries == [1])
    }

    @Test func `attempts start on the executor`() {
        let (executor, log) = (ManualExecutor(), Log<Int>())
        let task = Task.retry(RetryPolicy(attempts: 1), on: executor) { attempt in
            log.add(attempt)
            return .success(attempt)
        }
        #expect(log.entries.isEmpty)
        executor.runAll()
        #expect(task.valueNow == 1)
        let cancelled = Task.retry(RetryPolicy(attempts: 1), on: executor) { attempt in
            log.add(attempt)
            return .success(attempt)
        }
        cancelled.cancel()
        executor.runAll()
        #expect(log.entries == [1])
    }

    @Test func `an executor that runs closures twice starts no attempt twice`() {
        struct Twice: Executor {
            func submit(_ body: @escaping @Sendable () -> Void) {
                body()
                body()
            }
        }
        let log = Log<Int>()
        let task = Task<Int>.retry(RetryPolicy(attempts: 3, base: .zero), on: Twice()) { attempt in
            log.add(attempt)
            throw TimeoutError(duration: .zero)
        }
        #expect((try? task.wait()?.get()) == nil)
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `after the end nothing is kept`() {
        let lifetimes = Lifetimes()
        let task = Task.retry(RetryPolicy(attempts: 3)) { [token = lifetimes.make()] attempt in
            token.touch()
            return .success(attempt)
        }
        #expect(lifetimes.count == 0)
        #expect(task.peek() != nil)
    }

    @Test func `many attempts without pauses need no stack`() async {
        let policy = RetryPolicy(attempts: 10_000, base: .zero)
        let task = Task.retry(policy) { attempt in
            attempt < 10_000 ? .failure(Failure.failed) : .success(attempt)
        }
        let value = try? await task.value
        #expect(value == 10_000)
    }
}

private enum Failure: Error { case failed, thrown }
