import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

/// Tests that the progress of a cancelled task is cancelled, too.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressCancellationTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `cancelling a task shows in its progress at once, held or fetched later`() {
        let root = Task(Producer())
        for task in [root, Task(Producer()).map { $0 }, Task(Producer(), progress: makeProgress())] {
            let held = task.progress
            #expect(!held.isCancelled)
            task.cancel()
            #expect(held.isCancelled)
            #expect(task.progress.isCancelled)
        }
        root.cancel()
        #expect(root.progress.isCancelled)
    }

    @Test func `cancelling a derived task shows in the progress of those that it cancels`() {
        let root = Task(Producer())
        let child = Task(Producer())
        let derived = root.map { $0 }
        let combined = [derived, child].allSucceeded()
        let held = [root, derived, child].map(\.progress)
        combined.cancel()
        #expect(held.allSatisfy { $0.isCancelled })
    }

    @Test func `cancelling the progress shows in it, and in that of the tasks upstream`() {
        let root = Task(Producer())
        let (above, below) = (root.progress, root.map { $0 }.progress)
        below.cancel()
        #expect(below.isCancelled && above.isCancelled && root.isCancelled)
    }

    @Test func `after the end, cancelling does nothing`() {
        let producer = Producer()
        let task = Task(producer)
        let (held, early, late) = (
            task.progress, Task.success(1).progress, Task<Int>.failure(CancellationError()).progress
        )
        producer.succeed(with: 1)
        task.cancel()
        for progress in [held, task.progress, early, late] {
            progress.cancel()
            #expect(!progress.isCancelled)
        }
    }

    @Test func `a task that was cancelled before its end stays so`() {
        let producer = Producer()
        let task = Task(producer)
        task.cancel()
        producer.succeed(with: 1)
        #expect(task.progress.isCancelled && task.progress.fractionCompleted == 1)
    }

    @Test func `children added to the progress are cancelled with the task, and their handlers called once`() async {
        let task = Task(Producer())
        let (progress, child) = (task.progress, makeProgress())
        let called = Deferred<Void>()
        progress.addChild(child, withPendingUnitCount: 1)
        progress.cancellationHandler = { called.mustFill(with: ()) }
        task.cancel()
        #expect(child.isCancelled)
        progress.cancel()
        await called.value
    }

    @Test func `a progress that is a child of another is cancelled with it`() {
        let (task, parent) = (Task(Producer()), makeProgress())
        parent.totalUnitCount = 1
        parent.addChild(task.progress, withPendingUnitCount: 1)
        parent.cancel()
        #expect(task.isCancelled)
    }

    @Test func `concurrent cancellations, reports and polls crash nothing`() {
        for _ in 0..<100 {
            let (producer, reporter) = (Producer(), ProgressReporter())
            let task = Task(producer, reporter: reporter).map { $0 }
            let (progress, child) = (task.progress, makeProgress())
            progress.addChild(child, withPendingUnitCount: 1)
            race(4) { thread in
                for step in 1...20 { reporter.report(completed: Int64(step), of: 20) }
                switch thread {
                case 0: task.cancel()
                case 1: progress.cancel()
                case 2: #expect(task.progress.fractionCompleted <= 1)
                default: task.progress.cancel()
                }
            }
            #expect(task.isCancelled && progress.isCancelled && child.isCancelled)
        }
    }
}

/// `Progress` cannot be made in an asynchronous function.
private func makeProgress() -> Progress { Progress(parent: nil, userInfo: nil) }
