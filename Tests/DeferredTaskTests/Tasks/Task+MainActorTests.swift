import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

/// Tests that every operator with a closure accepts one that is isolated to the main actor.
@Suite(.ownThread, .timeLimit(.minutes(1)))
@MainActor
struct TaskMainActorTests {
    private enum Failure: Error { case first, second }

    /// State of the main actor, which the closures use without `await`.
    private var seen = Log<String>()
    private var isHere = true

    @Test func `operators on values`() async throws {
        let task = Task.success(1)
        #expect(try await task.map(on: .mainActor) { isHere ? $0 + 1 : 0 }.value == 2)
        #expect(try await task.flatMap(on: .mainActor) { isHere ? .success($0 + 2) : .never }.value == 3)
        #expect(try await task.flatMap(on: .mainActor) { Future(value: isHere ? $0 + 3 : 0) }.value == 4)
        #expect(await Future(value: 1).map(on: .mainActor) { isHere ? $0 : 0 }.value == 1)
        #expect(await Future(value: 1).flatMap(on: .mainActor) { Future(value: isHere ? $0 : 0) }.value == 1)
        #expect(await Future.async(on: .mainActor) { isHere }.value)
    }

    @Test func `operators on errors`() async {
        let failed = Task<Int>.failure(Failure.first)
        #expect(await (try? failed.recover(on: .mainActor) { _ in isHere ? 1 : 0 }.value) == 1)
        #expect(await (try? failed.fallback(on: .mainActor) { _ in isHere ? .success(2) : .never }.value) == 2)
        await #expect(throws: Failure.second) {
            try await failed.mapError(on: .mainActor) { _ in isHere ? Failure.second : Failure.first }.value
        }
        await #expect(throws: Failure.second) {
            try await failed.recover(on: .mainActor) { _ in
                if isHere { throw Failure.second }
                return 1
            }.value
        }
    }

    @Test func `operators on ends, and handlers`() async throws {
        let task = Task.success(1).always(on: .mainActor) { _ in seen.add("always \(isHere)") }
        #expect(try await task.value == 1)
        let done = Deferred<Void>()
        task.upon(.mainActor) { _ in seen.add("upon \(isHere)") }
        task.uponSuccess(on: .mainActor) { _ in seen.add("success \(isHere)") }
        Task<Int>.failure(Failure.first).uponFailure(on: .mainActor) { _ in
            seen.add("failure \(isHere)")
            done.fill()
        }
        await done.value
        #expect(seen.entries == ["always true", "upon true", "success true", "failure true"])
    }

    @Test func `operators that start work`() async throws {
        #expect(try await Task.async(on: .mainActor) { isHere ? 1 : 0 }.value == 1)
        await #expect(throws: Failure.first) {
            try await Task<Int>.async(on: .mainActor) {
                if isHere { throw Failure.first }
                return 1
            }.value
        }
        let policy = RetryPolicy(attempts: 2, base: .zero)
        let attempts = Task.retry(policy, on: .mainActor) { attempt in
            seen.add("\(attempt)")
            return isHere && attempt == 2 ? Task.success(attempt) : .failure(Failure.first)
        }
        #expect(try await attempts.value == 2)
        #expect(seen.entries == ["1", "2"])
    }

    @Test func `the latest task`() async throws {
        let (latest, clock, done) = (LatestTask<Int>(), ManualClock(), Deferred<Int>())
        latest.start(after: .seconds(1), clock: clock, on: .mainActor) {
            isHere ? .success(1) : .never
        } deliver: { result in
            done.fill(with: isHere ? (try? result.get()) ?? 0 : 0)
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await done.value == 1)
    }
}
