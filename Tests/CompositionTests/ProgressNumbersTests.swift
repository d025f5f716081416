import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

/// Reports extreme, wrong and late numbers.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressNumbersTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    init() { DeferredDiagnostics.unfilledHandler = { _ in } }

    private static let numbers: [Int64] = [.min, .min + 1, -1, 0, 1, 2, 1 << 53, (1 << 53) + 1, .max - 1, .max]

    @Test func `no number traps, and none makes a fraction that decreases or isn't one`() {
        for seed in 0..<UInt64(rounds(200)) {
            var random = SeededGenerator(seed: seed)
            let reporters = (0..<4).map { ProgressReporter(unit: $0 < 3 ? .bytes : .count) }
            let producers = reporters.map { _ in Producer() }
            let parts = zip(producers, reporters).map { Task($0, reporter: $1) }
            let whole = [parts[0].map { $0 }, zip(parts[1], parts[2]).map { $0 + $1 }, parts[3]].allSucceeded()
            let (fractions, object) = (Log<Double>(), whole.progress)
            whole.uponProgress(on: .immediate) { snapshot in
                fractions.add(snapshot.fraction)
                _ = (snapshot.description, snapshot.estimatedTimeRemaining)
                if snapshot.completed < 0 || snapshot.resumed < 0 || snapshot.total ?? 0 < 0 { fractions.add(.nan) }
            }
            func number() -> Int64 { Self.numbers.randomElement(using: &random) ?? 0 }
            for _ in 0..<30 {
                let reporter = reporters[Int.random(in: 0..<4, using: &random)]
                if Bool.random(using: &random) {
                    reporter.add(number())
                } else {
                    let total = Bool.random(using: &random) ? nil : number()
                    reporter.report(completed: number(), of: total, resumed: number())
                }
            }
            for (index, producer) in producers.enumerated() {
                producer.succeed(with: index)
                reporters[index].report(completed: number(), of: number(), resumed: number())
            }
            let all = fractions.entries
            #expect(all == all.sorted() && all.last == 1 && all.filter { $0 == 1 }.count == 1, "seed \(seed): \(all)")
            #expect(object.fractionCompleted == 1)
        }
    }

    @Test func `what is reported after the end doesn't count`() {
        for isWatched in [true, false] {
            let (producer, reporter) = (Producer(), ProgressReporter(total: 4))
            let task = Task(producer, reporter: reporter).map { $0 }
            let object = isWatched ? task.progress : nil
            reporter.report(completed: 1, of: 4)
            producer.fail(with: CancellationError())
            let before = task.progress.fractionCompleted
            reporter.report(completed: 3, of: 4)
            if isWatched { #expect(task.progress.fractionCompleted == before && before > 0 && before < 0.5) }
            #expect(task.progress.fractionCompleted < 1)
            withExtendedLifetime(object) {}
        }
    }

    @Test func `a task created with its result is done, or has done nothing`() {
        #expect(Task.success(1).progress.fractionCompleted == 1)
        #expect(Task<Int>.failure(CancellationError()).progress.fractionCompleted == 0)
        #expect(Task.success(1).map { $0 }.flatMap { .success($0) }.progress.fractionCompleted == 1)
        let task = Task.success(1)
        task.progress.cancel()
        #expect(!task.progress.isCancelled && !task.isCancelled)
    }

    @Test func `a task that counts 2 to the power of 64 times doesn't trap`() {
        let (producer, reporter) = (Producer(), ProgressReporter(total: 10))
        var task = Task(producer, reporter: reporter)
        for _ in 0..<64 { task = [task, task].allSucceeded().map { $0[0] } }
        task.uponProgress(on: .immediate) { _ in }
        reporter.add(1)
        producer.succeed(with: 1)
        #expect(task.progress.fractionCompleted == 1)
    }

    @Test func `a total that becomes known, unknown, and known again is told`() {
        let (producer, reporter) = (Producer(), ProgressReporter(unit: .bytes))
        let task = Task(producer, reporter: reporter)
        let totals = Log<Int64?>()
        task.uponProgress(on: .immediate) { totals.add($0.total) }
        #expect(task.progress.isIndeterminate)
        reporter.report(completed: 1, of: 4)
        #expect(!task.progress.isIndeterminate && task.progress.fractionCompleted > 0.2)
        reporter.report(completed: 2, of: nil)
        reporter.report(completed: 3, of: -1)
        reporter.report(completed: 3, of: 4, resumed: 9)
        #expect(totals.entries == [nil, 4, nil, nil, 4])
        producer.succeed(with: 1)
    }
}
