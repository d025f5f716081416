import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Loops over `progressUpdates` that are left, cancelled, slow, late, or many.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressLoopsTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    init() { DeferredDiagnostics.unfilledHandler = { _ in } }

    @Test func `10,000 loops that are left, cancelled or never begun leave nothing behind`() async throws {
        let (producer, reporter, lifetimes) = (Producer(), ProgressReporter(total: 100), Lifetimes())
        let task = Task(producer, reporter: reporter).map { [token = lifetimes.make()] value in
            token.touch()
            return value
        }
        for round in 0..<10_000 {
            switch round % 4 {
            case 0: for await _ in task.progressUpdates { break }
            case 1: _ = task.progressUpdates.makeAsyncIterator()
            case 2:
                var iterator = task.progressUpdates.makeAsyncIterator()
                _ = await iterator.next(isolation: nil)
                reporter.report(completed: Int64(round % 100), of: 100)
            default:
                guard round % 100 == 3 else { continue }
                let loop = _Concurrency.Task { for await _ in task.progressUpdates {} }
                loop.cancel()
                await loop.value
            }
        }
        #expect(!task.isCancelled && !task.isFilled && lifetimes.count == 1)
        producer.succeed(with: 1)
        #expect(lifetimes.count == 0)
    }

    @Test func `a task that only a loop keeps is freed when the loop is left`() async {
        let lifetimes = Lifetimes()
        for round in 0..<1_000 {
            let token = lifetimes.make()
            let task = Task(Producer(), reporter: ProgressReporter()) { token.touch() }.map { $0 }
            var iterator = task.progressUpdates.makeAsyncIterator()
            if round.isMultiple(of: 2) { _ = await iterator.next(isolation: nil) }
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `loops of any speed end with the last snapshot, whenever the task ends`() async {
        for round in 0..<rounds(100) {
            let (producer, reporter) = (Producer(), ProgressReporter(total: 1_000, unit: .bytes))
            let task = [Task(producer, reporter: reporter).map { $0 }].allSucceeded()
            let hasFailed = round % 3 == 0
            let loops = (0..<4).map { loop in
                _Concurrency.Task {
                    var all: [ProgressSnapshot] = []
                    for await snapshot in task.progressUpdates {
                        all.append(snapshot)
                        for _ in 0..<(loop * 5) { await _Concurrency.Task.yield() }
                    }
                    return all
                }
            }
            let reports = _Concurrency.Task {
                for step in 0..<200 {
                    reporter.add(1)
                    if step % 50 == 0 { await _Concurrency.Task.yield() }
                }
                if hasFailed { producer.fail(with: CancellationError()) } else { producer.succeed(with: 1) }
                reporter.add(700)
            }
            await reports.value
            for loop in loops {
                let all = await loop.value
                #expect(all.map(\.fraction) == all.map(\.fraction).sorted())
                #expect(all.map(\.completed) == all.map(\.completed).sorted(), "round \(round)")
                #expect(all.last?.completed == 200 && (all.last?.fraction == 1) == !hasFailed, "round \(round)")
            }
        }
    }

    @Test func `a loop over a task that has ended gets exactly one snapshot`() async {
        let reporter = ProgressReporter(total: 4)
        reporter.report(completed: 1, of: 4)
        let failed = Producer()
        failed.fail(with: CancellationError())
        let tasks: [Task<Int>] = [
            .success(1), .failure(CancellationError()), Task(failed, reporter: reporter), Task(failed).map { $0 },
        ]
        for (index, task) in tasks.enumerated() {
            var snapshots: [ProgressSnapshot] = []
            for await snapshot in task.progressUpdates { snapshots.append(snapshot) }
            #expect(snapshots.count == 1 && (snapshots.first?.fraction == 1) == (index == 0), "\(index): \(snapshots)")
        }
    }

    @Test @MainActor func `a loop on the main actor gets the last snapshot, and its cancelled twin ends`() async {
        for _ in 0..<20 {
            let (producer, reporter) = (Producer(), ProgressReporter(total: 100))
            let task = Task(producer, reporter: reporter)
            let first = Deferred<Void>()
            let (loop, twin) = (
                _Concurrency.Task { @MainActor in
                    var last = -1.0
                    for await snapshot in task.progressUpdates { last = snapshot.fraction }
                    return last
                },
                _Concurrency.Task { @MainActor in for await _ in task.progressUpdates { first.fill() } }
            )
            await first.value
            twin.cancel()
            await twin.value
            for _ in 0..<100 { reporter.add(1) }
            producer.succeed(with: 1)
            #expect(await loop.value == 1)
        }
    }
}
