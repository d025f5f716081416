import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

#if os(macOS) || os(Linux)
@Suite("Long operations", .ownThread, .timeLimit(.minutes(2)))
struct LongOperationTests {
    /// Runs `event` for each event, on a small stack.
    private static func loop<State>(
        _ name: String,
        count: Int = 100_000,
        bytesKept: Int = 0,
        _ makeState: @escaping @Sendable () -> State,
        _ event: @escaping @Sendable (State, Int) -> Void
    ) -> LongOperation {
        LongOperation(name, count: count, bytesKept: bytesKept) { events in
            await onThread(stackSize: 512 << 10) {
                let state = makeState()
                for index in 0..<events.count {
                    event(state, index)
                    events.note()
                }
            }
        }
    }

    private static func count(_ rest: Int, _ events: LongOperationEvents) -> Task<Int> {
        events.note()
        guard rest > 0 else { return .success(0) }
        return Task.async(on: .global()) { rest - 1 }.flatMap { count($0, events) }
    }

    private struct ImpatientClock: Clock {
        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
    }

    private struct Again: Error {}

    private static let operations: [LongOperation] = [
        loop("handlers of a future that are taken back") {
            Deferred<Int>()
        } _: { deferred, _ in
            deferred.upon(.immediate) { _ in }.cancel()
        },
        loop("registrations with a token") {
            CancellationTokenSource()
        } _: { source, _ in
            source.token.register {}.cancel()
        },
        loop("tasks that a token cancels") {
            CancellationTokenSource()
        } _: { source, index in
            let promise = Task<Int>.Promise()
            _ = Task(promise).map { $0 }.cancelled(by: source.token)
            promise.succeed(with: index)
        },
        loop("branches of a shared task") { () -> (Task<Int>.Promise, Task<Int>) in
            let promise = Task<Int>.Promise()
            return (promise, Task(promise).shared())
        } _: { task, _ in
            task.1.map { $0 }.cancel()
        },
        loop("stages of a task that doesn't end") { () -> (Task<Int>.Promise, Task<Int>) in
            let promise = Task<Int>.Promise()
            return (promise, Task(promise).shared())
        } _: { task, _ in
            let branch = task.1.flatMap { .success($0) }.timeout(after: .seconds(60)).always(on: .immediate) { _ in }
            branch.cancel()
        },
        loop("progress through stages") { () -> (Task<Int>.Promise, ProgressReporter, Task<Int>) in
            let (promise, reporter) = (Task<Int>.Promise(), ProgressReporter(total: 1_000_000))
            let task = Task(promise, reporter: reporter, uponCancel: { _ in }).map { $0 }.flatMap { .success($0) }
            task.uponProgress(on: .immediate) { _ in }
            return (promise, reporter, task)
        } _: { state, _ in
            state.1.add(1)
        },
        loop("observers of one task's progress", count: 20_000, bytesKept: .max / 2) {
            () -> (Task<Int>.Promise, Task<Int>) in
            let promise = Task<Int>.Promise()
            return (promise, Task(promise))
        } _: { task, _ in
            task.1.uponProgress(on: .immediate) { _ in }
        },
        loop("latest task") {
            LatestTask<Int>()
        } _: { latest, _ in
            latest.start(Task(Task<Int>.Promise()), on: .immediate) { _ in }
        },
        LongOperation("progress updates") { events in
            let (promise, reporter) = (Task<Int>.Promise(), ProgressReporter(total: Int64(events.count)))
            let task = Task(promise, reporter: reporter, uponCancel: { _ in })
            reporter.add(1)
            for await _ in task.progressUpdates {
                events.note()
                reporter.add(1)
                if reporter.completed > Int64(events.count) { promise.succeed(with: 1) }
            }
        },
        LongOperation("recursive flatMap") { events in
            let end = try await count(events.count - 1, events).get()
            #expect(end == 0)
        },
        LongOperation("retry") { events in
            let policy = RetryPolicy(attempts: events.count, base: .zero, clock: ImpatientClock())
            let task = Task<Int>.retry(policy) { _ in
                events.note()
                return .failure(Again())
            }
            _ = await task.result
        },
        LongOperation("tasks of a sequence", bytesKept: 32) { events in
            let task = (0..<events.count).mapTasks(maxConcurrent: 4) { index in
                events.note()
                return Task.async(on: .global()) { index }
            }
            let values = try await task.get()
            #expect(values.count == events.count)
        },
    ]

    @Test(arguments: operations.map(\.name))
    func `its last events cost no more than its first ones`(name: String) async {
        await #expect(processExitsWith: .success) { [name] in
            try await Self.operations.expectSteadyCost(of: name)
        }
    }
}
#endif
