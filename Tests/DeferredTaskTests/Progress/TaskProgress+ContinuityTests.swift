import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Tests that the progress of a task never goes back, whoever reads it, and however.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressContinuityTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    /// A task of two downloads in sequence: when the second begins, the total amount of work doubles.
    private struct Chain {
        let first = Producer()
        let second = Producer()
        let one = ProgressReporter()
        let other = ProgressReporter()
        let task: Task<Int>

        init() {
            let (second, other) = (second, other)
            task = Task(first, reporter: one).flatMap { _ in Task(second, reporter: other) }
        }

        func beginSecond() {
            one.report(completed: 10, of: 10)
            #expect(task.progress.fractionCompleted > 0.9)
            first.succeed(with: 1)
            other.report(completed: 1, of: 100)
        }
    }

    @Test func `a progress that is polled never goes back`() {
        let chain = Chain()
        chain.beginSecond()
        #expect(chain.task.progress.fractionCompleted > 0.9)
        chain.other.report(completed: 50, of: 100)
        #expect(chain.task.progress.fractionCompleted > 0.9)
        chain.second.succeed(with: 1)
        #expect(chain.task.progress.fractionCompleted == 1)
    }

    @Test func `a new observer sees no less than a poll, and a poll no less than an observer`() {
        let (chain, log) = (Chain(), Log<Double>())
        chain.beginSecond()
        chain.task.uponProgress(on: .immediate) { log.add($0.fraction) }.cancel()
        #expect(log.entries.count == 1 && log.entries[0] > 0.9)

        let (producer, reporter) = (Producer(), ProgressReporter())
        let task = Task(producer, reporter: reporter)
        let registration = task.uponProgress(on: .immediate) { _ in }
        reporter.report(completed: 3, of: 4)
        registration.cancel()
        reporter.report(completed: 1, of: 4)
        #expect(isNear(task.progress.fractionCompleted, 0.75))
    }

    @Test func `progressUpdates begins no lower than the last value seen`() async {
        let chain = Chain()
        chain.beginSecond()
        for await snapshot in chain.task.progressUpdates {
            #expect(snapshot.fraction > 0.9)
            break
        }
    }

    @Test func `a failed task keeps its last fraction, also for later readers`() {
        let (producer, reporter, log) = (Producer(), ProgressReporter(), Log<Double>())
        let root = Task(producer, reporter: reporter)
        let derived = root.map { $0 }
        reporter.report(completed: 1, of: 2)
        #expect(isNear(root.progress.fractionCompleted, 0.5))
        #expect(isNear(derived.progress.fractionCompleted, 5.0 / 11))
        producer.fail(with: CancellationError())
        #expect(isNear(root.progress.fractionCompleted, 0.5))
        #expect(isNear(derived.progress.fractionCompleted, 5.0 / 11))
        root.uponProgress(on: .immediate) { log.add($0.fraction) }
        derived.uponProgress(on: .immediate) { log.add($0.fraction) }
        #expect(log.entries.count == 2 && isNear(log.entries[0], 0.5) && isNear(log.entries[1], 5.0 / 11))
    }

    @Test func `a task that failed before anybody looked has come nowhere, whatever succeeded upstream`() {
        let producer = Producer()
        let failed = Task(producer).map { _ -> Int in throw CancellationError() }
        producer.succeed(with: 1)
        #expect(failed.progress.fractionCompleted == 0)
    }

    @Test func `a child that recovered counts as done`() {
        let (first, second) = (Producer(), Producer())
        let all = [Task(first).recover { _ in 1 }, Task(second)].allSucceeded()
        first.fail(with: CancellationError())
        // Two of three stages, though one of the two has failed.
        #expect(isNear(all.progress.fractionCompleted, 2.0 / 3))
        second.succeed(with: 1)
    }

    @Test func `a failure upstream does not count as done`() {
        let (outer, inner, reporter, log) = (Producer(), Producer(), ProgressReporter(), Log<Double>())
        let root = Task(outer, reporter: reporter)
        let held = root.map { $0 }.map { $0 }.progress
        let nested = Task<Int>.success(1).flatMap { _ in Task(inner, reporter: reporter) }.map { $0 }
        nested.uponProgress(on: .immediate) { log.add($0.fraction) }
        reporter.report(completed: 1, of: 2)
        for producer in [outer, inner] { producer.fail(with: CancellationError()) }
        #expect(isNear(held.fractionCompleted, 5.0 / 12))
        #expect(log.entries.allSatisfy { $0 < 0.51 })
    }

    @Test func `a child that failed does not count as done`() {
        let producers = (0..<2).map { _ in Producer() }
        let reporters = (0..<2).map { _ in ProgressReporter(total: 2) }
        let task = zip(producers, reporters).map { Task($0, reporter: $1) }.allSucceeded()
        let held = task.progress
        for reporter in reporters { reporter.report(completed: 1, of: 2) }
        producers[0].fail(with: CancellationError())
        #expect(isNear(held.fractionCompleted, 0.5))
    }

    @Test func `a child that had failed before it was one does not count as done`() {
        let running = Task(Producer())
        #expect([Task<Int>.failure(CancellationError()), running].firstSucceeded().progress.fractionCompleted == 0)
        #expect(isNear([Task<Int>.success(1), running].allSucceeded().progress.fractionCompleted, 0.5))
        let producer = Producer()
        let task = Task(producer).flatMap { _ in Task<Int>.failure(CancellationError()) }
        let held = task.progress
        producer.succeed(with: 1)
        #expect(isNear(held.fractionCompleted, 0.5))
    }

    @Test(arguments: [false, true])
    func `a child that failed weighs as much whether somebody looked before or not`(isFollowed: Bool) {
        let producers = (0..<2).map { _ in Producer() }
        let reporters = (0..<2).map { _ in ProgressReporter(total: 2) }
        let files = zip(producers, reporters).map { Task($0, reporter: $1) }
        let task = [files[0].map { $0 }, files[1]].firstSucceeded()
        let held = isFollowed ? task.progress : nil
        for reporter in reporters { reporter.report(completed: 1, of: 2) }
        producers[0].fail(with: CancellationError())
        // A file and a map, and another file; half of each file, and nothing of the map.
        #expect(isNear(task.progress.fractionCompleted, 10.0 / 21))
        withExtendedLifetime(held) {}
    }

    @Test func `the state of a task may be made after its end, or let go before`() {
        let (producer, executor) = (Producer(), ManualExecutor())
        let mapped = Task(producer).map(on: executor) { $0 }
        producer.succeed(with: 1)
        executor.runAll()
        #expect(mapped.progress.fractionCompleted == 1)
        let task = Task(Producer()).map { $0 }
        task.cancel()
        #expect(task.progress.fractionCompleted == 0)
    }

    @Test func `progress that one of 4 threads has seen never goes back for the others`() {
        for _ in 0..<50 {
            let chain = Chain()
            let highest = Lock(0.0)
            chain.one.report(completed: 10, of: 10)
            race(4) { thread in
                for step in 1...50 {
                    let before = highest.withLock { $0 }
                    let now = chain.task.progress
                    // Another thread may still be updating the progress object that it holds, but a snapshot is final.
                    chain.task.uponProgress(on: .immediate) { snapshot in
                        #expect(snapshot.fraction >= before)
                        highest.withLock { $0 = max($0, snapshot.fraction) }
                    }.cancel()
                    withExtendedLifetime(now) {}
                    if thread == 1, step == 25 { chain.first.succeed(with: 1) }
                    if thread == 2 { chain.other.report(completed: Int64(step), of: 100) }
                }
            }
        }
    }
}

private func isNear(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 1e-8 }
