import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

/// Tests of `flatMap` from tasks into futures, and into themselves.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TaskFlatMapFutureTests {
    private enum Failure: Error { case custom }
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `flatMap from a task to a future gives a task`() {
        for isEarly in [true, false] {
            let (producer, next) = (Producer(), Deferred<String>())
            if !isEarly { producer.succeed(with: 1) }
            let task: Task<String> = Task(producer).flatMap { _ in next }
            let thrown = Task(producer).flatMap { (_: Int) throws -> Future<Int> in throw Failure.custom }
            if isEarly { producer.succeed(with: 1) }
            #expect(task.peek() == nil)
            next.fill(with: "a")
            #expect(task.valueNow == "a")
            #expect(thrown.failureNow as? Failure == .custom)
        }
        let failed = Task<Int>.failure(Failure.custom).flatMap { Future(value: $0) }
        #expect(failed.failureNow as? Failure == .custom)
    }

    @Test func `a future of a result ends the task as the task that is made of it`() {
        let producer = Deferred<Task<String>.Result>()
        let task = Task.success(1).flatMap { _ in Task(producer) }
        producer.fail(with: Failure.custom)
        #expect(task.failureNow as? Failure == .custom)
    }

    @Test func `cancelling before the closure runs cancels the task, and afterwards waits for the future`() {
        let (producer, next, log) = (Producer(), Deferred<Int>(), Log<String>())
        let early = Task(Producer()) { log.add("cancel") }.flatMap { Future(value: $0) }
        early.cancel()
        #expect(log.entries == ["cancel"] && early.failureNow is CancellationError)

        let late = Task(producer).flatMap { _ in next }
        producer.succeed(with: 1)
        late.cancel()
        #expect(late.isCancelled && late.peek() == nil)
        next.fill(with: 2)
        #expect(late.valueNow == 2)
    }

    @Test func `flatMap from a task to a task gives a task`() {
        let task = Task.success(1).flatMap { .success($0 + 1) }.flatMap { Task.success("\($0)") }
        #expect(task.valueNow == "2")
    }

    @Test func `flatMap from a future to a future gives a future`() {
        let value = Deferred<Int>()
        let next = value.flatMap { Future(value: "\($0)") }.map { $0 }
        value.fill(with: 1)
        #expect(next.peek() == "1")
    }

    // MARK: Cycles

    @Test func `a task whose closure returns the task itself fails`() {
        let first = Producer()
        nonisolated(unsafe) var task: Task<Int>?
        task = Task(first).flatMap { _ in task! }
        let log = Log<String>()
        task?.upon(.immediate) { log.add("\($0)") }
        first.succeed(with: 1)
        #expect(task?.failureNow is CircularTask)
        #expect(log.entries.count == 1)
        #expect("\(CircularTask())".contains("would wait for itself"))

        let second = Producer()
        task = Task(second).fallback { _ in task! }
        second.fail(with: Failure.custom)
        #expect(task?.failureNow is CircularTask)
    }

    @Test func `a task whose closure returns one derived from the task fails`() {
        nonisolated(unsafe) var task: Task<Int>?
        let derivations: [@Sendable (Task<Int>) -> Task<Int>] = [
            { $0.map { $0 + 1 } },
            { $0.recover { _ in 1 }.map { $0 } },
            { $0.flatMap { .success($0) } },
            { $0.always { _ in } },
            { $0.shared() },
        ]
        for derive in derivations {
            let (first, second) = (Producer(), Producer())
            task = Task(first).flatMap { _ in derive(task!) }
            first.succeed(with: 1)
            #expect(task?.failureNow is CircularTask)
            task = Task(second).fallback { _ in derive(task!) }.map { $0 }
            second.fail(with: Failure.custom)
            #expect(task?.failureNow is CircularTask)
        }
        for count in [63, 64, 1_000] {
            let first = Producer()
            task = (0..<count).reduce(Task(first).flatMap { _ in task! }) { task, _ in task.map { $0 } }
            first.succeed(with: 1)
            #expect(task?.failureNow is CircularTask, "\(count)")
        }
        // Two tasks derived from the same one are no cycle.
        let (first, other) = (Producer(), Producer())
        let shared = Task(other).map { $0 }
        let both = shared.flatMap { _ in Task(first) }.flatMap { _ in shared.map { $0 + 1 } }
        other.succeed(with: 1)
        first.succeed(with: 1)
        #expect(both.valueNow == 2)
        task = nil
    }

    @Test func `the progress of a task that waits for itself through others can be read`() {
        let waits: [@Sendable (Task<Int>, Task<Int>) -> Task<Int>] = [
            { [$0, $1].firstCompleted() },
            { [$0, $1].allSucceeded().map { $0[0] } },
            { task, _ in task.timeout(after: .seconds(100_000)) },
        ]
        for wait in waits {
            let (first, other) = (Producer(), Producer())
            nonisolated(unsafe) var task: Task<Int>?
            task = Task(first).flatMap { _ in wait(task!, Task(other)) }
            first.succeed(with: 1)
            #expect(task?.progress.fractionCompleted ?? 1 < 1)
            // Only the other one can end it now, and without an end it would be kept for ever.
            task?.cancel()
            other.fail(with: Failure.custom)
            #expect(task?.failureNow != nil)
            task = nil
        }
    }

    @Test func `the task itself may be returned on an executor, and is freed`() {
        let (lifetimes, first) = (Lifetimes(), Producer())
        nonisolated(unsafe) var task: Task<Int>?
        struct Inline: Executor {
            func submit(_ body: @escaping @Sendable () -> Void) { body() }
        }
        task = Task(first).flatMap(on: Inline()) { [token = lifetimes.make()] _ in
            token.touch()
            return task!
        }
        task?.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        first.succeed(with: 1)
        #expect(task?.failureNow is CircularTask)
        #expect(lifetimes.count == 0)
        #expect(task?.progress.fractionCompleted ?? 1 < 1)
        task = nil
    }
}
