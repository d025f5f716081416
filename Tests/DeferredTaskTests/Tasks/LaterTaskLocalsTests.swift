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

    /// Calls a closure in a Swift task, or on a plain thread, with a task-local.
    private func beginning<Result: Sendable>(
        _ isInTask: Bool,
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        guard isInTask else { return await onThread { Local.$id.withValue("a", operation: body) } }
        return await _Concurrency.Task { Local.$id.withValue("a", operation: body) }.value
    }

    @Test(arguments: [true, false])
    func `every attempt of a retry`(isInTask: Bool) async throws {
        for isImmediate in [true, false] {
            let executor: any Executor = isImmediate ? .immediate : .any()
            let task = await beginning(isInTask) { [log, clock] in
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

    @Test(arguments: [true, false])
    func `all elements of mapTasks`(isInTask: Bool) async throws {
        let producers = (0..<6).map { _ in Producer() }
        let task = await beginning(isInTask) { [log] in
            (0..<6).mapTasks(maxConcurrent: 2) { index in
                log.add("\(Local.id) \(index)")
                return Task(producers[index])
            }
        }
        await onThread { for producer in producers { producer.succeed(with: 1) } }
        #expect(try await task.get().count == 6)
        #expect(log.entries == (0..<6).map { "a \($0)" })
    }

    @Test(arguments: [true, false])
    func `the start of a latest task after the pause`(isInTask: Bool) async throws {
        let latest = LatestTask<Int>()
        await beginning(isInTask) { [log, clock] in
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

    @Test(arguments: [true, false])
    func `an attempt on the main actor`(isInTask: Bool) async throws {
        let task = await beginning(isInTask) { [log, clock] in
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

    @Test(arguments: [true, false])
    func `the closures of the policy of a retry`(isInTask: Bool) async throws {
        let producer = Producer()
        let task = await beginning(isInTask) { [log, clock] in
            let random: @Sendable () -> Double = {
                log.add("random \(Local.id)")
                return 0.5
            }
            let policy = RetryPolicy(attempts: 2, clock: clock, random: random) { _ in
                log.add("isRetryable \(Local.id)")
                return true
            }
            return Task<Int>.retry(policy) { attempt in attempt == 1 ? Task(producer) : .success(attempt) }
        }
        await onThread { _ = producer.fail(with: Failure()) }
        try await clock.waitForSleepers()
        await onThread { [clock] in clock.advance(by: .seconds(60)) }
        #expect(try await task.get() == 2)
        #expect(log.entries == ["isRetryable a", "random a"])
    }

    @Test func `a first attempt and a first element that are put off, since they nest too deeply`() async {
        await onThread { [log] in
            for depth in 30...34 {
                let futures = (0..<depth).map { _ in Deferred<Void>() }
                for (one, next) in zip(futures, futures.dropFirst()) { one.upon(.immediate) { next.fill() } }
                futures[depth - 1].upon(.immediate) {
                    Local.$id.withValue("a") {
                        _ = Task<Int>.retry(RetryPolicy(attempts: 1)) { attempt in
                            log.add("\(Local.id) \(depth)")
                            return .success(attempt)
                        }
                        _ = [depth].mapTasks(maxConcurrent: 1) { element in
                            log.add("\(Local.id) \(element)")
                            return Task.success(element)
                        }
                    }
                }
                futures[0].fill()
            }
        }
        #expect(log.entries == (60..<70).map { "a \($0 / 2)" })
    }

    private struct Failure: Error {}
}
