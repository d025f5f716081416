import DeferredCore
import DeferredTask
import DeferredTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Reads the progress of one task in all ways at once, while other threads report, fill, cancel and take handlers back.
///
/// Whatever the order, a reader gets one last delivery, no fraction that is lower than one that it or an earlier reader
/// saw, and 1 only after a success.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressReadersTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    init() { DeferredDiagnostics.unfilledHandler = { _ in } }

    /// What one handler has seen.
    private final class Reader: Sendable {
        struct Seen {
            var fractions: [Double] = []
            var isRunning = false
            var problems: [String] = []
            /// True once the registration has been taken back, by the thread that delivers.
            var isOver = false
        }

        let seen = Lock(Seen())
        let floor: Double
        let name: String

        init(_ name: String, floor: Double) {
            self.name = name
            self.floor = floor
        }

        func take(_ snapshot: ProgressSnapshot, of task: Task<[Int]>) {
            seen.withLock { seen in
                if seen.isRunning { seen.problems.append("\(name): deliveries overlap") }
                seen.isRunning = true
                let last = seen.fractions.last ?? floor
                if snapshot.fraction < last { seen.problems.append("\(name): \(last) -> \(snapshot.fraction)") }
                // A delivery that the success overtakes may show it, too, before the last.
                if seen.fractions.suffix(2) == [1, 1] { seen.problems.append("\(name): a delivery after the last") }
                if snapshot.fraction == 1, (try? task.peek()?.get()) == nil {
                    seen.problems.append("\(name): 1 before a success")
                }
                if snapshot.fraction.isNaN || snapshot.fraction < 0 || snapshot.fraction > 1 {
                    seen.problems.append("\(name): \(snapshot.fraction)")
                }
                seen.fractions.append(snapshot.fraction)
            }
            seen.withLock { $0.isRunning = false }
        }

        var problems: [String] { seen.withLock(\.problems) }
        var last: Double? { seen.withLock { $0.fractions.last } }
        var count: Int { seen.withLock { $0.fractions.count } }
    }

    private enum End: CaseIterable { case success, failure, cancellation, objectCancelled }

    @Test(arguments: 0..<4)
    func `handlers, loops and objects agree, whoever reports, fills and cancels`(part: Int) async throws {
        for round in 0..<rounds(24) {
            let seed = UInt64(part * 1_000 + round)
            var random = SeededGenerator(seed: seed)
            let end = End.allCases.randomElement(using: &random) ?? .success
            let leaves = Int.random(in: 1...6, using: &random)
            let producers = (0..<leaves).map { _ in Producer() }
            let reporters = (0..<leaves).map { _ in ProgressReporter(total: 100, unit: .bytes) }
            let children = (0..<leaves).map { index -> Task<Int> in
                let producer = producers[index]
                let task = Task(producer, reporter: reporters[index]) { producer.fail(with: CancellationError()) }
                return index % 3 == 0 ? task : index % 3 == 1 ? task.map { $0 } : task.flatMap { .success($0) }
            }
            let task = children.allSucceeded().map { $0 }
            let (readers, updates) = (Log<(Reader, isKept: Bool)>(), Log<_Concurrency.Task<[Double], Never>>())
            let highest = Atomic(UInt64(0))
            let problems = Log<String>()
            race(5) { thread in
                var random = SeededGenerator(seed: seed &* 31 &+ UInt64(thread))
                var held: Progress?
                var seen = 0.0
                for step in 0..<40 {
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0 where readers.entries.count < 30:
                        let floor = Double(bitPattern: highest.load(ordering: .acquiring))
                        let reader = Reader("seed \(seed), thread \(thread), step \(step)", floor: floor)
                        let body: @Sendable (ProgressSnapshot) -> Void = { snapshot in
                            reader.take(snapshot, of: task)
                            highest.max(snapshot.fraction.bitPattern, ordering: .acquiringAndReleasing)
                        }
                        let registration =
                            Bool.random(using: &random)
                            ? task.uponProgress(on: .immediate, execute: body)
                            : task.uponProgress(on: .global(), execute: body)
                        let isKept = Bool.random(using: &random)
                        readers.add((reader, isKept))
                        if !isKept { registration.cancel() }
                    case 1:
                        held = task.progress
                    case 2:
                        if held != nil { held = nil }
                    case 3:
                        if let held {
                            let now = held.fractionCompleted
                            if now < seen - 2e-9 { problems.add("seed \(seed): object \(seen) -> \(now)") }
                            seen = max(seen, now)
                        }
                    case 4 where updates.entries.count < 8:
                        updates.add(
                            _Concurrency.Task {
                                var all: [Double] = []
                                for await snapshot in task.progressUpdates { all.append(snapshot.fraction) }
                                return all
                            }
                        )
                    default:
                        reporters.randomElement(using: &random)?.add(1)
                    }
                    guard thread == 0, step == 30 else { continue }
                    switch end {
                    case .success: for producer in producers.shuffled(using: &random) { producer.succeed(with: 1) }
                    case .failure: producers.randomElement(using: &random)?.fail(with: CocoaError(.fileNoSuchFile))
                    case .cancellation:
                        let object = task.progress
                        task.cancel()
                        if !object.isCancelled { problems.add("seed \(seed): the object isn't cancelled") }
                    case .objectCancelled: task.progress.cancel()
                    }
                }
            }
            let hasSucceeded = (try? await task.value) != nil
            #expect(hasSucceeded == (end == .success))
            for loop in updates.entries {
                let all = await loop.value
                #expect(all == all.sorted() && !all.isEmpty && (all.last == 1) == hasSucceeded, "seed \(seed): \(all)")
            }
            for (reader, isKept) in readers.entries where isKept && hasSucceeded {
                try await eventually { reader.last == 1 }
            }
            #expect(readers.entries.flatMap(\.0.problems) == [])
            #expect(problems.entries == [])
            let isCancelled = end == .cancellation || end == .objectCancelled
            #expect(task.isCancelled == isCancelled && task.progress.isCancelled == isCancelled, "seed \(seed)")
        }
    }

    @Test func `each handler that is kept gets a delivery after a failure, and none later`() {
        for round in 0..<rounds(200) {
            let (producer, reporter) = (Producer(), ProgressReporter(total: 4))
            let task = Task(producer, reporter: reporter).map { $0 }
            let deliveries = Log<Bool>()
            race(3) { thread in
                if thread == 0 {
                    reporter.add(1)
                    producer.fail(with: CancellationError())
                } else {
                    task.uponProgress(on: .immediate) { _ in deliveries.add(task.isFilled) }
                    reporter.add(1)
                }
            }
            // One that the end overtakes may come before the last.
            let count = deliveries.entries.count { $0 }
            #expect(2...4 ~= count, "round \(round): \(deliveries.entries)")
            reporter.add(1)
            _ = task.progress
            #expect(deliveries.entries.count { $0 } == count)
        }
    }

    @Test func `an object of a task that another thread cancels is cancelled when that returns`() {
        for round in 0..<rounds(200) {
            let producer = Producer()
            let task = Task(producer).map { $0 }
            let (object, problems) = (round.isMultiple(of: 2) ? task.progress : nil, Log<Int>())
            race(3) { thread in
                if thread == 0 {
                    task.cancel()
                    if !task.progress.isCancelled { problems.add(round) }
                    if let object, !object.isCancelled { problems.add(-round) }
                } else if thread == 1 {
                    _ = task.progress.fractionCompleted
                } else {
                    producer.succeed(with: 1)
                    // Whoever was first, it stays that way.
                    let (was, object) = (task.isCancelled, task.progress)
                    if object.isCancelled != was, object.isCancelled != task.isCancelled { problems.add(round) }
                }
            }
            // The end may have come before the request.
            let hasCancelled = task.isCancelled
            if hasCancelled { #expect(problems.entries == []) }
            #expect(task.progress.isCancelled == hasCancelled)
            #expect((task.progress.fractionCompleted == 1) == ((try? task.wait()?.get()) != nil))
        }
    }

    @Test func `an object may go while its progress is sampled`() {
        race(4) { _ in
            for _ in 0..<rounds(2_000) {
                let upstream = Task(Task<Int>.Promise())
                let task = Task(upstream.future, progress: Progress(totalUnitCount: 1))
                task.progress.cancel()
            }
        }
    }
}
