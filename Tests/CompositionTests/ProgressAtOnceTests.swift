import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Reads progress on one thread at the very moment when another thread begins to read, ends the task, or starts a turn.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressAtOnceTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    init() { DeferredDiagnostics.unfilledHandler = { _ in } }

    /// A task with 500 of 1,000 units, and the producer of its end.
    private func half() -> (producer: Producer, reporter: ProgressReporter, task: Task<[Int]>) {
        let (producer, reporter) = (Producer(), ProgressReporter(total: 1_000, unit: .bytes))
        reporter.report(completed: 500, of: 1_000)
        return (producer, reporter, [Task(producer, reporter: reporter).map { $0 }].allSucceeded())
    }

    @Test func `two handlers that are registered at once start with what was reported before`() {
        let firsts = Log<Int64>()
        for _ in 0..<rounds(1_000) {
            let (_, _, task) = half()
            race(2) { _ in
                let count = Atomic(0)
                task.uponProgress(on: .immediate) { snapshot in
                    if count.add(1, ordering: .relaxed).newValue == 1 { firsts.add(snapshot.completed) }
                }
            }
        }
        let wrong = firsts.entries.filter { $0 != 500 }
        #expect(wrong == [])
    }

    @Test func `two objects that are read at once show what was reported before`() {
        let fractions = Log<Double>()
        for _ in 0..<rounds(1_000) {
            let (_, _, task) = half()
            race(2) { _ in fractions.add(task.progress.fractionCompleted) }
        }
        let wrong = fractions.entries.filter { $0 < 0.4 }
        #expect(wrong == [])
    }

    @Test func `the last snapshot has what was completed, however the end meets the beginning of two handlers`() {
        let lasts = Log<Int64>()
        for _ in 0..<rounds(1_000) {
            let (producer, _, task) = half()
            race(3) { thread in
                guard thread < 2 else { return _ = producer.fail(with: CancellationError()) }
                let (last, ended) = (Deferred<Void>(), Log<Int64>())
                task.uponProgress(on: .immediate) { snapshot in
                    ended.add(snapshot.completed)
                    if task.isFilled { last.fill() }
                }
                _ = task.wait()
                last.wait()
                if let completed = ended.entries.last { lasts.add(completed) }
            }
        }
        let wrong = lasts.entries.filter { $0 != 500 }
        #expect(wrong == [])
    }

    @Test func `the object is at 1 after the end, whoever wrote it last`() {
        for _ in 0..<rounds(1_000) {
            let (producer, reporter, task) = half()
            let held = task.progress
            race(2) { thread in
                if thread == 0 {
                    for _ in 0..<5 { reporter.add(1) }
                    producer.succeed(with: 1)
                } else {
                    while task.peek() == nil {}
                    _ = task.progress
                }
            }
            #expect(held.fractionCompleted == 1)
        }
    }

    /// A task that has completed 10 bytes, and ends with `producer`.
    private func ten(_ producer: Producer) -> Task<Int> {
        let reporter = ProgressReporter(unit: .bytes)
        reporter.report(completed: 10, of: 10)
        return Task(producer, reporter: reporter)
    }

    @Test func `bytes don't go back when a turn starts the next one, which reports meanwhile`() {
        let problems = Log<String>()
        for _ in 0..<rounds(1_000) {
            let (one, two) = (Producer(), Producer())
            let reporter = ProgressReporter(total: 100, unit: .bytes)
            let (first, second) = (ten(one), ten(two))
            let third = Task(Producer(), reporter: reporter)
            third.uponProgress(on: .immediate) { _ in }
            let whole = first.flatMap { _ in second.flatMap { _ in third } }
            let highest = Atomic(Int64(0))
            whole.uponProgress(on: .immediate) { snapshot in
                let last = highest.exchange(snapshot.completed, ordering: .relaxed)
                if snapshot.completed < last { problems.add("\(last) -> \(snapshot.completed)") }
            }
            race(2) { thread in
                if thread == 0 {
                    one.succeed(with: 1)
                    two.succeed(with: 1)
                } else {
                    for _ in 0..<60 { reporter.add(1) }
                }
            }
            #expect(highest.load(ordering: .relaxed) == 80)
        }
        #expect(problems.entries == [])
    }

    /// Two tasks that wait for each other once both producers are filled.
    private func circle() -> (producers: [Producer], tasks: [Task<Int>]) {
        let (producers, tasks) = ([Producer(), Producer()], Log<Task<Int>>())
        for index in 0..<2 {
            tasks.add(Task(producers[index]).flatMap { _ in [tasks.entries[1 - index]].allSucceeded().map { $0[0] } })
        }
        return (producers, tasks.entries)
    }

    // Each of the threads could find no circle, and the sums be followed round and round.
    @Test func `a watched circle that two threads close at once ends when it is cancelled`() {
        for round in 0..<rounds(1_000) {
            let (producers, tasks) = circle()
            let objects = tasks.map(\.progress)
            race(2) { producers[$0].succeed(with: 1) }
            tasks[round % 2].cancel()
            let running = tasks.indices.filter { !tasks[$0].isFilled }
            #expect(running == [] && objects[round % 2].isCancelled, "round \(round)")
        }
    }

    @Test func `a circle that two threads begin to read at once ends when it is cancelled`() {
        for round in 0..<rounds(1_000) {
            let (producers, tasks) = circle()
            for producer in producers { producer.succeed(with: 1) }
            race(2) { thread in tasks[thread].uponProgress(on: .immediate) { _ in } }
            tasks[round % 2].cancel()
            let running = tasks.indices.filter { !tasks[$0].isFilled }
            #expect(running == [], "round \(round)")
        }
    }

    @Test func `a total that was huge, and is corrected, leaves the others what they have`() {
        for huge in [Int64(1) << 40, 1 << 60, .max] {
            let reporters = (0..<2).map { _ in ProgressReporter(unit: .bytes) }
            let tasks = reporters.map { Task(Producer(), reporter: $0) }
            let whole = tasks.allSucceeded()
            let held = whole.progress
            reporters[0].report(completed: 0, of: huge)
            reporters[1].report(completed: 1, of: 1_000)
            reporters[0].report(completed: 500, of: 1_000)
            let (kept, new) = (held.fractionCompleted, tasks.allSucceeded().progress.fractionCompleted)
            #expect(abs(new - 0.2505) < 1e-6)
            #expect(abs(kept - new) < 1e-6, "\(huge)")
        }
    }
}
