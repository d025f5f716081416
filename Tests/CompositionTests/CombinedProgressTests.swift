import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Combines tasks that end in odd orders on several threads, and reads the progress of the combination meanwhile.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct CombinedProgressTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    init() { DeferredDiagnostics.unfilledHandler = { _ in } }

    private struct Leaf {
        let producer = Producer()
        let reporter: ProgressReporter?
        let task: Task<Int>

        init(isReporting: Bool, isEnded: Bool) {
            let producer = producer
            if isEnded { producer.succeed(with: 1) }
            reporter = isReporting ? ProgressReporter(total: 10, unit: .bytes) : nil
            task = reporter.map { Task(producer, reporter: $0) } ?? Task(producer)
        }
    }

    /// Combines all of `tasks`, nested at random. The same task may occur twice, and one may be a map of another.
    private static func combine(_ tasks: [Task<Int>], using random: inout SeededGenerator) -> Task<Int> {
        guard tasks.count > 1 else { return tasks[0].map { $0 } }
        let middle = Int.random(in: 1..<tasks.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return tasks.allSucceeded().map(\.count)
        case 1: return (tasks + [tasks[0], tasks[0].map { $0 }]).allSucceeded().map(\.count)
        case 2: return tasks.mapTasks(maxConcurrent: tasks.count) { $0 }.map(\.count)
        case 3:
            let left = combine(Array(tasks[..<middle]), using: &random)
            let right = combine(Array(tasks[middle...]), using: &random)
            return zip(left, right).map { $0 + $1 }
        case 4:
            let left = combine(Array(tasks[..<middle]), using: &random)
            let rest = Array(tasks[middle...])
            return left.flatMap { _ in rest.allSucceeded() }.map(\.count)
        case 5:
            let shared = combine(tasks, using: &random)
            return [shared.shared(), shared.shared().map { $0 }].allSucceeded().map(\.count)
        default:
            let left = combine(Array(tasks[..<middle]), using: &random)
            let right = combine(Array(tasks[middle...]), using: &random)
            return [left, right, left.map { $0 }].allSucceeded().map(\.count)
        }
    }

    private static func fresh(_ count: Int, _ random: inout SeededGenerator) -> [Leaf] {
        (0..<count).map { _ in
            Leaf(isReporting: Bool.random(using: &random), isEnded: Int.random(in: 0..<8, using: &random) == 0)
        }
    }

    @Test(arguments: 0..<4)
    func `any combination, read by anybody, never decreases, and is 1 when and only when all have succeeded`(part: Int)
    {
        for round in 0..<rounds(60) {
            let seed = UInt64(part * 1_000 + round)
            var random = SeededGenerator(seed: seed)
            let leaves = Self.fresh(Int.random(in: 1...[3, 12, 60][round % 3], using: &random), &random)
            let whole = Self.combine(leaves.map(\.task), using: &random)
            let (problems, highest) = (Log<String>(), Watermark())
            let object = whole.progress
            let cancelling = Int.random(in: 0..<4, using: &random) == 0
            let order = leaves.indices.shuffled(using: &random)
            race(3) { thread in
                var random = SeededGenerator(seed: seed &* 7 &+ UInt64(thread))
                for (place, index) in order.enumerated() where place % 3 == thread {
                    leaves[index].reporter?.add(Int64.random(in: 0...5, using: &random))
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        let floor = highest.value
                        let registration = whole.uponProgress(on: .immediate) { snapshot in
                            if snapshot.fraction < floor {
                                problems.add("seed \(seed): \(floor) -> \(snapshot.fraction)")
                            }
                            if snapshot.fraction == 1, whole.peek() == nil { problems.add("seed \(seed): 1 too early") }
                            highest.raise(to: snapshot.fraction)
                        }
                        if Bool.random(using: &random) { registration.cancel() }
                    }
                    if cancelling, place == leaves.count / 2 { whole.cancel() }
                    leaves[index].producer.succeed(with: 1)
                    if object.fractionCompleted == 1, whole.peek() == nil { problems.add("seed \(seed): object") }
                }
            }
            #expect(problems.entries == [])
            #expect(whole.isFilled, "seed \(seed)")
            let hasSucceeded = (try? whole.peek()?.get()) != nil
            #expect(hasSucceeded || cancelling)
            #expect((whole.progress.fractionCompleted == 1) == hasSucceeded && highest.value <= 1, "seed \(seed)")
        }
    }

    @Test(arguments: [1, 2, 100, 10_000])
    func `sums that are kept through thousands of ends are those that a new reader computes`(count: Int) {
        for seed in 0..<UInt64(count < 1_000 ? rounds(4) : 1) {
            var random = SeededGenerator(seed: seed)
            let leaves = (0..<count).map { _ in Leaf(isReporting: true, isEnded: false) }
            let tasks = leaves.map(\.task)
            let (whole, twin) = (tasks.allSucceeded(), tasks.mapTasks(maxConcurrent: count) { $0 })
            let (newest, object) = (Newest(), whole.progress)
            whole.uponProgress(on: .immediate) { newest.put($0) }
            let order = leaves.indices.shuffled(using: &random)
            race(2) { thread in
                for (place, index) in order.enumerated() where place % 2 == thread && place < count / 2 {
                    leaves[index].reporter?.report(completed: Int64(index % 11), of: 10)
                    if index % 3 == 0 { leaves[index].producer.succeed(with: 1) }
                }
            }
            // A new reader of another combination adds everything up.
            let expected = Newest()
            twin.uponProgress(on: .immediate) { expected.put($0) }
            let (one, other) = (newest.snapshot.withLock { $0 }, expected.snapshot.withLock { $0 })
            #expect(one?.completed == other?.completed && one?.total == other?.total, "\(count), seed \(seed)")
            #expect(abs((one?.fraction ?? -1) - (other?.fraction ?? -2)) < 1e-6, "\(count), seed \(seed)")
            for leaf in leaves { leaf.producer.succeed(with: 1) }
            #expect(object.fractionCompleted == 1 && whole.isFilled)
        }
    }

    private final class Newest: Sendable {
        let snapshot = Lock<ProgressSnapshot?>(nil)
        func put(_ new: ProgressSnapshot) { snapshot.withLock { $0 = new } }
    }

    private final class Watermark: Sendable {
        private let bits = Atomic(UInt64(0))
        var value: Double { Double(bitPattern: bits.load(ordering: .acquiring)) }
        func raise(to value: Double) { bits.max(value.bitPattern, ordering: .acquiringAndReleasing) }
    }

    @Test func `the same task in two combinations counts in both, and stays when one is cancelled`() {
        let (producer, reporter) = (Producer(), ProgressReporter(total: 4, unit: .bytes))
        let task = Task(producer, reporter: reporter)
        let others = (0..<2).map { _ in Producer() }
        let one = [task, task, Task(others[0])].allSucceeded()
        let two = [task.shared(), Task(others[1])].firstSucceeded()
        let objects = [one.progress, two.progress]
        reporter.report(completed: 2, of: 4)
        #expect(objects.allSatisfy { $0.fractionCompleted > 0 })
        others[1].succeed(with: 7)
        #expect(two.isFilled && objects[1].fractionCompleted == 1 && objects[0].fractionCompleted < 1)
        producer.succeed(with: 1)
        others[0].succeed(with: 1)
        #expect(one.isFilled || task.isCancelled)
    }
}
