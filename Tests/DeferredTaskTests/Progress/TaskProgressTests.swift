import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TaskProgressTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `a task that reports nothing goes from 0 to 1`() {
        let producer = Producer()
        let progress = Task(producer).progress
        #expect(progress.fractionCompleted == 0)
        #expect(!progress.isFinished)
        producer.succeed(with: 1)
        #expect(progress.fractionCompleted == 1)
        #expect(progress.isFinished)
    }

    @Test func `a failed task stays where it was`() {
        let (producer, reporter) = (Producer(), ProgressReporter())
        let progress = Task(producer, reporter: reporter).progress
        reporter.report(completed: 1, of: 2)
        producer.fail(with: CancellationError())
        #expect(progress.fractionCompleted < 1)
        #expect(!progress.isFinished)
    }

    @Test func `a task made with its result is whole, or nothing`() {
        #expect(Task.success(1).progress.fractionCompleted == 1)
        #expect(Task<Int>.failure(CancellationError()).progress.fractionCompleted == 0)
    }

    @Test func `a stage that reports counts 10, one that does not counts 1`() {
        let (producer, reporter, executor) = (Producer(), ProgressReporter(), ManualExecutor())
        let task = Task(producer, reporter: reporter)
        let chain = task.map { $0 }.map(on: executor) { $0 }
        let (own, whole) = (task.progress, chain.progress)
        reporter.report(completed: 1, of: 4)
        #expect(isNear(own.fractionCompleted, 0.25))
        #expect(isNear(whole.fractionCompleted, 2.5 / 12))
        reporter.report(completed: 4, of: 4)
        #expect(isNear(whole.fractionCompleted, 10.0 / 12))
        producer.succeed(with: 1)
        #expect(own.fractionCompleted == 1)
        #expect(isNear(whole.fractionCompleted, 11.0 / 12))
        executor.runAll()
        #expect(whole.fractionCompleted == 1)
    }

    @Test func `a stage that reports counts 10 though it ended before its task was made`() {
        let (producer, executor) = (Producer(), ManualExecutor())
        producer.succeed(with: 1)
        let chain = Task(producer, reporter: ProgressReporter()).map(on: executor) { $0 }
        #expect(abs(chain.progress.fractionCompleted - 10.0 / 11) < 0.000_001)
        executor.runAll()
        #expect(chain.progress.fractionCompleted == 1)
    }

    @Test func `an inner task counts as soon as it runs`() {
        let (producer, inner, reporter) = (Producer(), Producer(), ProgressReporter())
        let chain = Task(producer).flatMap { _ in Task(inner, reporter: reporter) }
        let progress = chain.progress
        #expect(progress.fractionCompleted == 0)
        producer.succeed(with: 1)
        reporter.report(completed: 1, of: 2)
        // 1 for the first task, which has ended, and half of 10 for the inner one.
        #expect(isNear(progress.fractionCompleted, 6.0 / 11))
        inner.succeed(with: 2)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `progress never goes back`() {
        let (producer, inner, reporter) = (Producer(), Producer(), ProgressReporter())
        let chain = Task(producer).flatMap { _ in Task(inner, reporter: reporter) }
        let progress = chain.progress
        let first = ProgressReporter()
        let task = Task(Producer(), reporter: first)
        let own = task.progress
        first.report(completed: 3, of: 4)
        first.report(completed: 1, of: 4)
        #expect(isNear(own.fractionCompleted, 0.75))
        producer.succeed(with: 1)
        #expect(isNear(progress.fractionCompleted, 0.5))
        reporter.report(completed: 0, of: 10)
        #expect(isNear(progress.fractionCompleted, 0.5))
    }

    @Test func `an unknown total stays at 0 until the end`() {
        let (producer, reporter) = (Producer(), ProgressReporter(unit: .bytes))
        let progress = Task(producer, reporter: reporter).progress
        reporter.report(completed: 1000, of: nil)
        #expect(progress.fractionCompleted == 0)
        producer.succeed(with: 1)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `cancelling the progress cancels the task once`() {
        let (producer, log) = (Producer(), Log<String>())
        let root = Task(producer) { log.add("handler") }
        let task = root.map { $0 }
        task.progress.cancel()
        #expect(task.isCancelled && root.isCancelled)
        task.progress.cancel()
        task.cancel()
        #expect(log.entries == ["handler"])
    }

    @Test func `a foreign progress and its task cancel each other`() {
        for cancelsTask in [true, false] {
            let (producer, log) = (Producer(), Log<String>())
            let foreign = makeProgress()
            let done = DispatchSemaphore(value: 0)
            foreign.cancellationHandler = {
                log.add("own handler")
                done.signal()
            }
            let task = Task(producer, progress: foreign)
            if cancelsTask { task.map { $0 }.cancel() } else { foreign.cancel() }
            done.wait()
            #expect(foreign.isCancelled)
            #expect(log.entries == ["own handler"])
            // Handlers of a Progress run on a separate queue; the task follows.
            if cancelsTask { #expect(task.isCancelled) }
        }
    }

    @Test func `a task over a cancelled progress is cancelled`() {
        let foreign = makeProgress()
        foreign.cancel()
        #expect(Task(Producer(), progress: foreign).isCancelled)
    }

    @Test func `a foreign progress is followed while it is watched`() async throws {
        let producer = Producer()
        let foreign = makeProgress()
        foreign.totalUnitCount = 4
        let task = Task(producer, progress: foreign).map { $0 }
        foreign.completedUnitCount = 1
        let progress = task.progress
        #expect(isNear(progress.fractionCompleted, 2.5 / 11))
        foreign.completedUnitCount = 2
        // Linux has no key-value observation: the progress is sampled, by the sampler and whenever the task is read.
        try await eventually { isNear(task.progress.fractionCompleted, 5.0 / 11) }
        foreign.completedUnitCount = 3
        try await eventually { isNear(progress.fractionCompleted, 7.5 / 11) }
        producer.succeed(with: 1)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `a foreign progress without a total is followed, too`() async throws {
        let foreign = makeProgress()
        foreign.totalUnitCount = -1
        let counts = Log<Int64>()
        let task = Task(Producer(), progress: foreign)
        let registration = task.uponProgress(on: .immediate) { counts.add($0.completed) }
        foreign.completedUnitCount = 7
        try await eventually { counts.entries.contains(7) }
        registration.cancel()
    }

    @Test func `progress keeps nothing that dropping the task would not`() {
        let lifetimes = Lifetimes()
        do {
            let (producer, reporter) = (Producer(), ProgressReporter())
            let task = Task(producer, reporter: reporter) { [token = lifetimes.make()] in token.touch() }.map { $0 }
            let progress = task.progress
            reporter.report(completed: 1, of: 2)
            withExtendedLifetime(progress) {}
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `the same object is returned while it is held`() {
        let task = Task(Producer())
        let progress = task.progress
        #expect(task.progress === progress)
    }

    @Test func `reports from 8 threads, readers and a cancel lose nothing`() {
        let (producer, log) = (Producer(), Log<String>())
        let reporters = (0..<8).map { _ in ProgressReporter() }
        let tasks = reporters.map { Task(Producer(), reporter: $0).map { $0 } }
        let root = Task(producer, reporter: reporters[0]) { log.add("handler") }.map { $0 }
        race(8) { thread in
            for index in 1...2_000 {
                reporters[thread].report(completed: Int64(index), of: 2_000)
                if index % 100 == 0 { #expect(tasks[thread].progress.fractionCompleted <= 1) }
                _ = root.progress.fractionCompleted
            }
            if thread == 7 { root.progress.cancel() }
        }
        for task in tasks { #expect(isNear(task.progress.fractionCompleted, 10.0 / 11)) }
        #expect(log.entries == ["handler"])
    }
}

private func isNear(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 1e-8 }

/// `Progress` cannot be made in an asynchronous function.
private func makeProgress() -> Progress { Progress(parent: nil, userInfo: nil) }
