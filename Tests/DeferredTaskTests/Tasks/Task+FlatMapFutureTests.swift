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

    /// How one task of a circle waits for the next one.
    private enum Wait: CaseIterable {
        case plain, always, map, shared, flatMapped, ofFuture, ofMappedFuture, timeout, firstCompleted, firstSucceeded
        case allSucceeded, zipped, among

        /// True if the circle is detected when it closes.
        var isDetected: Bool {
            switch self {
            case .plain, .always, .map, .shared, .flatMapped, .ofFuture, .ofMappedFuture, .timeout: true
            case .firstCompleted, .firstSucceeded, .allSucceeded, .zipped, .among: false
            }
        }

        func callAsFunction(_ next: Task<Int>) -> Task<Int> {
            switch self {
            case .plain: next
            case .always: next.always { _ in }
            case .map: next.map { $0 }
            case .shared: next.shared()
            case .flatMapped: Task.success(1).flatMap { _ in next }
            case .ofFuture: Task(next.future)
            case .ofMappedFuture: Task(next.map { $0 }.future)
            case .firstCompleted: [next].firstCompleted()
            case .firstSucceeded: [next].firstSucceeded()
            case .allSucceeded: [next].allSucceeded().map { $0[0] }
            case .zipped: zip(next, Task.success(1)).map(\.0)
            case .timeout: next.timeout(after: .seconds(100_000))
            case .among: [[next, .never].firstCompleted().always { _ in }].allSucceeded().map { $0[0] }
            }
        }
    }

    @Test(arguments: Wait.allCases, [1, 2, 3, 10])
    private func `tasks that wait for one another in a circle end`(wait: Wait, count: Int) {
        for cancelled in [nil, 0, count - 1] {
            let start = Producer()
            let tasks = Lock<[Task<Int>]>([])
            // A firstSucceeded fails with the errors of its children, whatever these are.
            let isEnded: (Task<Int>) -> Bool = {
                $0.failureNow.map { $0.isCancellation || wait == .firstSucceeded && $0 is AllTasksFailed } ?? false
            }
            let all = (0..<count).map { index in
                Task(start).flatMap { _ in wait(tasks.withLock { $0[(index + 1) % count] }) }
            }
            tasks.withLock { $0 = all }
            start.succeed(with: 1)
            if wait.isDetected {
                #expect(all.allSatisfy { $0.failureNow is CircularTask }, "\(wait), \(count)")
            } else if let cancelled {
                #expect(all.allSatisfy { $0.peek() == nil })
                all[cancelled].cancel()
                #expect(all.allSatisfy(isEnded), "\(wait), \(count), \(cancelled)")
            } else {
                // By way of another task.
                all[0].uponCancel { all[count - 1].cancel() }
                all[0].always { _ in }.cancel()
                #expect(all.allSatisfy(isEnded), "\(wait), \(count)")
            }
            tasks.withLock { $0 = [] }
        }
    }

    @Test func `a circle whose tasks were cancelled before it closes ends`() {
        for isReady in [false, true] {
            let (start, later) = (Producer(), Producer())
            let tasks = Lock<[Task<Int>]>([])
            let one = Task(start).flatMap { _ in [tasks.withLock { $0[0] }].firstCompleted() }
            let wait = [one].firstCompleted()
            let other = Task(later).flatMap { _ in
                tasks.withLock { $0[0] }.cancel()
                if isReady { wait.cancel() }
                return isReady ? wait : [one].allSucceeded().map { $0[0] }
            }
            tasks.withLock { $0 = [other] }
            start.succeed(with: 1)
            later.succeed(with: 1)
            #expect(one.failureNow?.isCancellation == true && other.failureNow?.isCancellation == true, "\(isReady)")
            tasks.withLock { $0 = [] }
        }
    }

    @Test func `two threads that close a circle at the same moment do not miss it`() async {
        for round in 0..<(isSanitized ? 50 : 500) {
            let starts = [Producer(), Producer()]
            let tasks = Lock<[Task<Int>]>([])
            let all = (0..<2).map { index in Task(starts[index]).flatMap { _ in tasks.withLock { $0[1 - index] } } }
            tasks.withLock { $0 = all }
            await withTaskGroup { group in
                for start in starts { group.addTask { _ = start.succeed(with: 1) } }
            }
            #expect(all.allSatisfy { $0.failureNow is CircularTask }, "round \(round)")
            tasks.withLock { $0 = [] }
        }
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
