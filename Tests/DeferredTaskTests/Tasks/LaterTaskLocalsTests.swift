import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

/// What an operation starts later sees the task-locals of its beginning.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LaterTaskLocalsTests {
    private enum Local {
        @TaskLocal static var id = "none"
    }

    private typealias Producer = Task<Int>.Promise

    private let clock = ManualClock()
    private let log = Log<String>()

    /// Calls a closure in a Swift task with a task-local.
    private func beginning<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await _Concurrency.Task { Local.$id.withValue("a", operation: body) }.value
    }

    @Test func `every attempt of a retry`() async throws {
        for isImmediate in [true, false] {
            let executor: any Executor = isImmediate ? .immediate : .any()
            let task = await beginning { [log, clock] in
                Task<Int>.retry(RetryPolicy(attempts: 3, clock: clock), on: executor) { attempt in
                    log.add("\(Local.id) \(attempt)")
                    return attempt < 3 ? .failure(Failure()) : .success(attempt)
                }
            }
            for _ in 0..<2 {
                try await clock.waitForSleepers()
                await onThread { [clock] in clock.advance(by: .seconds(60)) }
            }
            #expect(try await task.get() == 3)
        }
        #expect(log.entries == ["a 1", "a 2", "a 3", "a 1", "a 2", "a 3"])
    }

    @Test func `all elements of mapTasks`() async throws {
        let producers = (0..<6).map { _ in Producer() }
        let task = await beginning { [log] in
            (0..<6).mapTasks(maxConcurrent: 2) { index in
                log.add("\(Local.id) \(index)")
                return Task(producers[index])
            }
        }
        await onThread { for producer in producers { producer.succeed(with: 1) } }
        #expect(try await task.get().count == 6)
        #expect(log.entries == (0..<6).map { "a \($0)" })
    }

    @Test func `the start of a latest task after the pause`() async throws {
        let latest = LatestTask<Int>()
        await beginning { [log, clock] in
            latest.start(after: .seconds(1), clock: clock, on: .immediate) {
                log.add(Local.id)
                return .success(1)
            } deliver: { _ in
            }
        }
        try await clock.waitForSleepers()
        await onThread { [clock] in clock.advance(by: .seconds(1)) }
        try await eventually { log.entries == ["a"] }
    }

    @Test func `an attempt on the main actor`() async throws {
        let task = await beginning { [log, clock] in
            Task<Int>.retry(RetryPolicy(attempts: 2, clock: clock), on: .mainActor) { attempt in
                MainActor.preconditionIsolated()
                log.add(Local.id)
                return attempt < 2 ? .failure(Failure()) : .success(attempt)
            }
        }
        try await clock.waitForSleepers()
        await onThread { [clock] in clock.advance(by: .seconds(60)) }
        #expect(try await task.get() == 2)
        #expect(log.entries == ["a", "a"])
    }

    private struct Failure: Error {}
}
