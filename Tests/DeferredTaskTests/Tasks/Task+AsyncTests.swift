import DeferredCore
import DeferredTask
import DeferredTesting
import Synchronization
import TestSupport
import Testing

/// Tests of tasks that start immediately, tasks that prefer an executor, and clocks that are existentials.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskAsyncTests {
    @Test func `a Swift task that cancels itself shows it`() async throws {
        let (mayCancel, isDone, mayEnd) = (Deferred<Void>(), Deferred<Void>(), Deferred<Void>())
        let task = Task {
            await mayCancel.value
            withUnsafeCurrentTask { $0?.cancel() }
            isDone.fill()
            await mayEnd.value
        }
        #expect(!task.isCancelled)
        mayCancel.fill()
        await isDone.value
        #expect(task.isCancelled)
        mayEnd.fill()
        try await task.value
        #expect(task.isCancelled)
    }

    private enum Failure: Error { case custom }

    private final class Counting: TaskExecutor {
        let jobs = Atomic(0)

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.add(1, ordering: .relaxed)
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private actor Counter {
        var count = 0

        /// Tests the effects of an immediate task by the time that its call returns.
        @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
        func countsAtOnce() -> (Int, Task<Int>) {
            let task = Task.immediate {
                count += 1
                return count
            }
            return (count, task)
        }
    }

    // MARK: immediate

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `an immediate task has ended when it returns, unless it suspends`() async throws {
        #expect(Task.immediate { 1 }.valueNow == 1)
        #expect(Task<Int>.immediate { throw Failure.custom }.failureNow as? Failure == .custom)
        let (log, gate) = (Log<String>(), Deferred<Int>())
        let task = Task.immediate(name: "waiting", priority: .high) {
            log.add("began")
            return await gate.value
        }
        #expect(log.entries == ["began"])
        #expect(task.peek() == nil)
        gate.fill(with: 2)
        #expect(try await task.value == 2)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `it begins at once on the caller's actor`() async throws {
        let (count, task) = await Counter().countsAtOnce()
        #expect(count == 1)
        #expect(try await task.value == 1)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test @MainActor func `it begins at once on the main actor, and elsewhere later`() async throws {
        var count = 0
        let task = Task.immediate { count += 1 }
        #expect(count == 1)
        try await task.value
        let elsewhere = await onThread {
            Task<Int>.immediate { @MainActor in 2 }
        }
        #expect(try await elsewhere.value == 2)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `cancelling it cancels the Swift task`() async {
        let task = Task<Int>.immediate {
            while !Task.isCancelled { await Task.yield() }
            throw Failure.custom
        }
        task.cancel()
        await #expect(throws: Failure.custom) { try await task.value }
        #expect(task.isCancelled)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `nothing is kept of one that has ended`() {
        let lifetimes = Lifetimes()
        let task = Task.immediate { [token = lifetimes.make()] in token.touch() }
        #expect(lifetimes.count == 0)
        #expect(task.isFilled)
    }

    // MARK: executorPreference

    @Test func `a task runs on the executor that it prefers`() async throws {
        let executor = Counting()
        let task = Task(name: "counted", executorPreference: executor, priority: .medium) { 1 }
        #expect(task.valueNow == 1)
        #expect(executor.jobs.load(ordering: .relaxed) > 0)
        #expect(try await Task(executorPreference: nil) { 2 }.value == 2)
        await #expect(throws: Failure.custom) {
            try await Task<Int>(executorPreference: executor) { throw Failure.custom }.value
        }
    }

    @Test func `cancelling one with an executor cancels the Swift task`() async {
        let task = Task<Int>(executorPreference: globalConcurrentExecutor) {
            while !Task.isCancelled { await Task.yield() }
            throw Failure.custom
        }
        task.cancel()
        await #expect(throws: Failure.custom) { try await task.value }
    }

    // MARK: Clocks

    @Test func `work on a queue decides the result once it has begun, though it is cancelled then`() async throws {
        let (begun, mayEnd) = (Deferred<Void>(), Deferred<Void>())
        let task = Task.async(on: .global()) {
            begun.fill()
            mayEnd.wait()
            return 1
        }
        await begun.value
        task.cancel()
        #expect(task.isCancelled && task.peek() == nil)
        mayEnd.fill()
        #expect(try await task.value == 1)
    }

    @Test func `time-outs, delays and pauses take any clock`() async throws {
        let manual = ManualClock()
        let clock: any Clock<Duration> = manual
        let late = Task<Int>.never.timeout(after: .seconds(1), clock: clock)
        let delayed = Task.success(1).delay(for: .seconds(1), clock: clock)
        let future = Future(value: 2).delay(for: .seconds(1), clock: clock)
        let policy = RetryPolicy(attempts: 2, base: .seconds(1), clock: clock, random: { 1 })
        let retried = Task.retry(policy) { $0 == 1 ? .failure(Failure.custom) : .success($0) }
        let source = CancellationTokenSource()
        source.cancel(after: .seconds(1), clock: clock)
        try await manual.waitForSleepers(5)
        manual.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await late.value }
        #expect(try await delayed.value == 1)
        #expect(await future.value == 2)
        #expect(try await retried.value == 2)
        try await eventually { source.isCancelled }
    }

    // MARK: Natural calls

    @Test func `a future needs no type where the task has one`() {
        let log = Log<String>()
        let task = Task<Int>(.never) { log.add("cancelled") }
        task.cancel()
        #expect(log.entries == ["cancelled"])
        #expect(task.peek() == nil)
        #expect(Task<Int>(.init(value: .success(1))).valueNow == 1)
    }

    @Test func `awaiting is never ambiguous`() async throws {
        let (task, deferred) = (Task.success(1), Deferred<Task<Int>.Result>(filledWith: .success(2)))
        let promise = Task<Int>.Promise()
        promise.succeed(with: 3)
        #expect(try await task.value == 1)
        #expect(try await task.get() == 1)
        #expect(try await task.result.get() == 1)
        #expect(try await task.future.value.get() == 1)
        #expect(try await task.future.get().get() == 1)
        #expect(try await deferred.value.get() == 2)
        #expect(try await deferred.get().get() == 2)
        #expect(try await promise.value.get() == 3)
        #expect(try await Task(promise).value == 3)
        #expect(await Future(value: 4).value == 4)
        #expect(try await Future(value: 4).get() == 4)
        async let (one, other) = (task.value, Future(value: 5).value)
        #expect(try await one + other == 6)
        let (some, none) = (try? await task.value, try? await Task<Int>.failure(Failure.custom).value)
        #expect(some == 1 && none == nil)
        let inferred = try await task.value
        let result = await task.result
        let value = await Deferred(filledWith: 6).value
        #expect(try inferred + result.get() + value == 8)
        let sums: [Int] = try await [task.map { $0 + 1 }, task].allSucceeded().value
        #expect(sums == [2, 1])
        try await Task.success(()).value
        try await Task { try await task.get() }.ignored().value
    }
}
