import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests that tasks made with a `Progress` follow it as Foundation specifies.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ForeignProgressTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test(arguments: [(-1, 5), (0, 0), (10, -1), (-1, -1)] as [(Int64, Int64)])
    func `while it is indeterminate, so is the task`(total: Int64, completed: Int64) async throws {
        let (producer, foreign) = (Producer(), Progress.discreteProgress(totalUnitCount: total))
        foreign.completedUnitCount = completed
        #expect(foreign.isIndeterminate)
        let task = Task(producer, progress: foreign)
        #expect(task.progress.isIndeterminate && task.progress.fractionCompleted == 0)
        let snapshot = current(of: task)
        #expect(snapshot?.total == nil && snapshot?.fraction == 0 && snapshot?.completed == max(completed, 0))
        let progress = task.map { $0 }.progress
        #expect(progress.isIndeterminate)
        foreign.totalUnitCount = 20
        foreign.completedUnitCount = 5
        // If the thread that samples the foreign progress is updating the task's, it also writes what is new.
        try await eventually { !task.progress.isIndeterminate && isNear(task.progress.fractionCompleted, 0.25) }
        producer.succeed(with: 1)
        try await eventually { !progress.isIndeterminate && progress.isFinished }
    }

    @Test func `the progress of a file counts bytes, and others items`() {
        let (file, other) = (Progress.discreteProgress(totalUnitCount: 3), Progress.discreteProgress(totalUnitCount: 3))
        file.kind = .file
        #expect(current(of: Task(Producer(), progress: file))?.unit == .bytes)
        #expect(current(of: Task(Producer(), progress: other))?.unit == .count)
    }

    @Test func `known progress elsewhere in the chain determines it`() {
        let foreign = Progress(parent: nil, userInfo: nil)
        let unknown = Task(Producer(), progress: foreign)
        let known = Task(Producer(), reporter: ProgressReporter(total: 10))
        #expect([unknown, Task(Producer())].allSucceeded().progress.isIndeterminate)
        #expect(![unknown, known].allSucceeded().progress.isIndeterminate)
        #expect(!Task(Producer()).progress.isIndeterminate)
        let (first, second) = (Producer(), ProgressReporter())
        let chain = Task(first, progress: foreign).flatMap { _ in Task(Producer(), reporter: second) }
        #expect(chain.progress.isIndeterminate)
        first.succeed(with: 1)
        #expect(!chain.progress.isIndeterminate)
    }

    @Test func `a reporter without a total is indeterminate, too`() {
        let (producer, reporter) = (Producer(), ProgressReporter(unit: .bytes))
        let progress = Task(producer, reporter: reporter).progress
        reporter.report(completed: 5, of: nil)
        #expect(progress.isIndeterminate)
        reporter.report(completed: 5, of: 10)
        #expect(!progress.isIndeterminate)
    }

    @Test(arguments: [(0, 5), (10, 15), (10, 10)] as [(Int64, Int64)])
    func `a finished foreign progress is complete, except for the task's end`(total: Int64, completed: Int64) {
        let (producer, foreign) = (Producer(), Progress(parent: nil, userInfo: nil))
        foreign.totalUnitCount = total
        foreign.completedUnitCount = completed
        #expect(foreign.isFinished)
        let task = Task(producer, progress: foreign)
        #expect(!task.isFilled)
        #expect(!task.progress.isFinished && task.progress.fractionCompleted > 0.999_999)
        producer.succeed(with: 1)
        #expect(task.progress.isFinished)
    }

    @Test func `children of it count`() {
        let (foreign, child) = (Progress(parent: nil, userInfo: nil), Progress(parent: nil, userInfo: nil))
        foreign.totalUnitCount = 2
        child.totalUnitCount = 2
        foreign.addChild(child, withPendingUnitCount: 2)
        let task = Task(Producer(), progress: foreign)
        child.completedUnitCount = 1
        #expect(isNear(task.progress.fractionCompleted, 0.5))
    }

    @Test(arguments: [false, true])
    func `its buttons are not the task's: it is cancelled with the task in any case`(isCancellable: Bool) {
        let foreign = Progress(parent: nil, userInfo: nil)
        foreign.isCancellable = isCancellable
        foreign.isPausable = true
        let task = Task(Producer(), progress: foreign)
        #expect(task.progress.isCancellable && !task.progress.isPausable)
        // As Foundation treats a child of another progress.
        let (parent, child) = (Progress(parent: nil, userInfo: nil), Progress(parent: nil, userInfo: nil))
        child.isCancellable = isCancellable
        parent.addChild(child, withPendingUnitCount: 1)
        parent.cancel()
        task.cancel()
        #expect(child.isCancelled && foreign.isCancelled)
    }

    @Test func `several tasks are cancelled with their progress, and its own handler is called once`() async throws {
        let (foreign, calls) = (makeProgress(), Log<String>())
        foreign.cancellationHandler = { calls.add("own") }
        let tasks = (0..<10).map { _ in Task(Producer(), progress: foreign) }
        foreign.cancel()
        foreign.cancel()
        try await eventually { tasks.allSatisfy { $0.isCancelled } }
        #expect(calls.entries == ["own"])
        #expect(Task(Producer(), progress: foreign).isCancelled)
        #expect(calls.entries == ["own"])
    }

    @Test func `a handler that replaces ours cuts off the tasks before, not those after`() async throws {
        let (foreign, calls) = (makeProgress(), Log<String>())
        let before = Task(Producer(), progress: foreign)
        foreign.cancellationHandler = { calls.add("new") }
        let after = Task(Producer(), progress: foreign)
        foreign.cancel()
        try await eventually { after.isCancelled }
        #expect(calls.entries == ["new"] && !before.isCancelled)
    }

    @Test func `tasks made by many threads are all tied to their progress`() async throws {
        for _ in 0..<50 {
            let (foreign, tasks) = (makeProgress(), Log<Task<Int>>())
            race(4) { _ in for _ in 0..<10 { tasks.add(Task(Producer(), progress: foreign)) } }
            foreign.cancel()
            try await eventually { tasks.entries.allSatisfy { $0.isCancelled } }
        }
    }

    #if os(macOS) || os(Linux)
    @Test func `100,000 tasks over one progress are cancelled and dropped on a small stack`() async {
        await #expect(processExitsWith: .success) {
            let count = isSanitized ? 10_000 : 100_000
            await onThread(stackSize: 512 << 10) {
                let progress = Progress(parent: nil, userInfo: nil)
                let tasks = (0..<count).map { _ in Task(Producer(), progress: progress) }
                let last = DispatchSemaphore(value: 0)
                // Handlers run newest first.
                tasks[0].uponCancel { last.signal() }
                progress.cancel()
                last.wait()
                precondition(tasks.allSatisfy { $0.isCancelled })
            }
            await onThread(stackSize: 512 << 10) {
                let progress = Progress(parent: nil, userInfo: nil)
                var tasks = (0..<count).map { _ in Task(Producer(), progress: progress) }
                tasks[count / 2].cancel()
                tasks = []
            }
            await onThread(stackSize: 512 << 10) {
                // The progress is released last, together with its handler.
                var progress = Optional(Progress(parent: nil, userInfo: nil))
                var producers: [Producer] = []
                for _ in 0..<count {
                    let producer = Producer()
                    let task = Task(producer, progress: progress!)
                    if producers.count % 2 == 0 { task.upon(.immediate) { _ in } }
                    producers.append(producer)
                }
                for producer in producers { producer.succeed(with: 1) }
                progress = nil
            }
        }
    }

    @Test func `a progress of long life keeps nothing of tasks that have ended or were dropped`() async {
        await #expect(processExitsWith: .success) {
            let progress = makeProgress()
            func round(_ index: Int) {
                let producer = Producer()
                let task = Task(producer, progress: progress)
                if index % 2 == 0 { producer.succeed(with: 1) }
                _ = task.peek()
            }
            for index in 0..<1_000 { round(index) }
            let before = residentMemory()
            for index in 0..<(isSanitized ? 20_000 : 200_000) { round(index) }
            precondition(isSanitized || residentMemory() - before < 8 << 20)
            progress.cancel()
        }
    }
    #endif

    private func current(of task: Task<some Sendable>) -> ProgressSnapshot? {
        let snapshots = Lock<ProgressSnapshot?>(nil)
        task.uponProgress(on: .immediate) { snapshot in snapshots.withLock { $0 = snapshot } }.cancel()
        return snapshots.withLock { $0 }
    }
}

private func isNear(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 1e-8 }

/// `Progress` cannot be made in an asynchronous function.
private func makeProgress() -> Progress { Progress(parent: nil, userInfo: nil) }
