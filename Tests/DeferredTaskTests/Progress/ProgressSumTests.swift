import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests that the progress of combined tasks tells the truth, and is a sum that is kept.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressSumTests {
    private typealias Promise = Task<Int>.Promise

    // MARK: - Truth

    /// A file that is downloaded: its length becomes known some time after the beginning.
    private final class File: Sendable {
        let promise = Promise()
        let reporter = ProgressReporter(unit: .bytes)
        /// Runs the closure that begins the download.
        let executor = ManualExecutor()

        func start() -> Task<Int> { Task(promise, reporter: reporter) { $0.fail(with: CancellationError()) } }
    }

    @Test func `an empty file, and one that has ended without a length, leave the weights to the bytes`() {
        let files = (0..<4).map { _ in File() }
        let task = files.map { $0.start() }.allSucceeded()
        files[0].reporter.report(completed: 0, of: 0)
        files[1].reporter.report(completed: 500, of: nil)
        files[2].reporter.report(completed: 500, of: 500)
        files[3].reporter.report(completed: 0, of: 99_000)
        for file in files[..<3] { file.promise.succeed(with: 1) }
        // Read only now: what was read before would not decrease.
        #expect(abs(task.progress.fractionCompleted - 0.01) < 1e-6)
    }

    /// The shapes that a tree of downloads may have.
    private enum Shape: CaseIterable {
        case mapTasks, mapTasksOfPlain, allSucceeded, groups, groupsOfGroups, retried, flatMapped
        case begunLater, nestedLater

        func task(of files: [File], _ started: Log<Int>, _ waiting: Log<Int>) -> Task<Int> {
            let start: @Sendable (Int) -> Task<Int> = { index in
                started.add(index)
                return files[index].start()
            }
            let indices = Array(files.indices)
            switch self {
            case .mapTasks: return indices.mapTasks(maxConcurrent: 4, start).map(\.count)
            case .mapTasksOfPlain: return indices.mapTasks(maxConcurrent: 4) { start($0).map { $0 } }.map(\.count)
            case .allSucceeded: return indices.map(start).allSucceeded().map(\.count)
            case .groups:
                // Of different sizes.
                let cuts = [0, 1, 4, files.count]
                return zip(cuts, cuts.dropFirst()).map { indices[$0..<$1].map(start).allSucceeded() }.allSucceeded()
                    .map(\.count)
            case .groupsOfGroups:
                let pairs = stride(from: 0, to: files.count, by: 2).map {
                    indices[$0...($0 + 1)].map(start).allSucceeded()
                }
                return [pairs[..<1].map { $0 }, pairs[1...].map { $0 }].map { $0.allSucceeded() }.allSucceeded().map(
                    \.count
                )
            case .retried:
                return indices.mapTasks(maxConcurrent: 4) { index in
                    Task.retry(RetryPolicy(attempts: 2)) { _ in start(index) }
                }.map(\.count)
            case .flatMapped:
                return indices.mapTasks(maxConcurrent: 4) { index in Task.success(index).flatMap(start) }.map(\.count)
            case .begunLater, .nestedLater:
                let isNested = self == .nestedLater
                return indices.mapTasks(maxConcurrent: 4) { index in
                    waiting.add(index)
                    let executor = files[index].executor
                    guard isNested else { return Task.success(index).flatMap(on: executor, start) }
                    return Task.success(index).flatMap(on: executor) { index in
                        Task.retry(RetryPolicy(attempts: 2), on: executor) { _ in start(index) }
                    }.map { $0 }
                }.map(\.count)
            }
        }
    }

    @Test(arguments: Shape.allCases)
    private func `the fraction is never ahead of the bytes, and never goes back`(shape: Shape) {
        for seed in 0..<(isSanitized ? 5 : 40) {
            var random = SeededGenerator(seed: UInt64(seed))
            let size: Int64 = 2_000_000
            let files = (0..<20).map { _ in File() }
            let (started, waiting) = (Log<Int>(), Log<Int>())
            let task = shape.task(of: files, started, waiting)
            let last = Lock(ProgressSnapshot(fraction: 0, completed: 0, total: nil, unit: .bytes))
            task.uponProgress(on: .immediate) { snapshot in
                let before = last.withLock { last in
                    defer { last = snapshot }
                    return last.fraction
                }
                #expect(snapshot.fraction >= before)
            }
            let held = task.progress
            var done = [Int64](repeating: 0, count: files.count)
            var known = [Bool](repeating: false, count: files.count)
            while done.reduce(0, +) < size * 20 {
                let closed = waiting.entries.filter { !started.entries.contains($0) }
                var running = started.entries.filter { done[$0] < size }
                if let index = closed.randomElement(using: &random), running.isEmpty || random.next().isMultiple(of: 6)
                {
                    files[index].executor.runAll()
                    running = started.entries.filter { done[$0] < size }
                }
                if running.isEmpty { continue }
                let index = running[Int(random.next() % UInt64(running.count))]
                // Lengths become known late, early, or only with the last byte.
                if random.next().isMultiple(of: 4) { known[index] = true }
                done[index] = min(size, done[index] + Int64(random.next() % 700_000))
                files[index].reporter.report(completed: done[index], of: known[index] ? size : nil)
                let truth = Double(done.reduce(0, +)) / Double(size * 20)
                #expect(last.withLock { $0.fraction } <= truth + 0.02, "\(shape), seed \(seed)")
                #expect(abs(held.fractionCompleted - last.withLock { $0.fraction }) < 1e-6)
                if done[index] == size {
                    if !known[index] { files[index].reporter.report(completed: size, of: size) }
                    files[index].promise.succeed(with: 1)
                    #expect(last.withLock { $0.fraction } <= truth + 0.02, "\(shape), seed \(seed), at an end")
                }
            }
            #expect(task.isFilled && held.fractionCompleted == 1)
        }
    }

    @Test func `20 files of 2 MB, 4 at a time: a fifth after 8 of 40 MB`() {
        let files = (0..<20).map { _ in File() }
        let task = files.mapTasks(maxConcurrent: 4) { $0.start().map { $0 } }
        let progress = task.progress
        for file in files[..<4] {
            file.reporter.report(completed: 2_000_000, of: 2_000_000)
            file.promise.succeed(with: 1)
        }
        #expect(abs(progress.fractionCompleted - 0.2) < 0.001)
        for file in files { file.promise.succeed(with: 1) }
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `files that 4 threads download are never ahead of the bytes`() {
        let (size, chunks) = (Int64(1_000), Int64(4))
        for round in 0..<(isSanitized ? 20 : 200) {
            let files = (0..<20).map { _ in File() }
            let started = Lock<[File]>([])
            let bytes = Atomic<Int64>(0)
            let isAhead = Atomic(false)
            let task = files.mapTasks(maxConcurrent: 4) { file in
                started.withLock { $0.append(file) }
                return file.start()
            }
            task.uponProgress(on: .immediate) { snapshot in
                // Read later, so that it has at least what the fraction has.
                let truth = Double(bytes.load(ordering: .sequentiallyConsistent)) / Double(size * 20)
                if snapshot.fraction > truth + 0.02, snapshot.fraction < 1 {
                    isAhead.store(true, ordering: .relaxed)
                }
            }
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                while !task.isFilled {
                    guard let file = started.withLock({ $0.popLast() }) else { continue }
                    for chunk in 1...chunks {
                        bytes.add(size / chunks, ordering: .sequentiallyConsistent)
                        file.reporter.report(completed: chunk * size / chunks, of: size)
                    }
                    file.promise.succeed(with: 1)
                }
            }
            let wasAhead = isAhead.load(ordering: .relaxed)
            #expect(!wasAhead, "round \(round)")
        }
    }

    // MARK: - Cost

    private func seconds(_ body: () -> Void) -> Double { ContinuousClock().measure(body) / .seconds(1) }

    /// The least of three measurements of `small` and `large` in turn, as a ratio. In n², 8 times as many take 64 times as long.
    private func ratio(_ small: () -> Double, _ large: () -> Double) -> Double {
        var (one, other) = (Double.infinity, Double.infinity)
        for _ in 0..<3 { (one, other) = (min(one, small()), min(other, large())) }
        return other / one
    }

    @Test func `the end of a child costs the same whatever the number of children`() {
        func time(_ count: Int) -> Double {
            let promises = (0..<count).map { _ in Promise() }
            let all = promises.map { Task($0) { $0.fail(with: CancellationError()) } }.allSucceeded()
            let held = all.progress
            return withExtendedLifetime(held) { seconds { for promise in promises { promise.succeed(with: 1) } } }
        }
        #expect(ratio({ time(400) }, { time(3_200) }) < 8 * 5)
    }

    @Test func `a report costs the same whatever the number of children`() {
        func time(_ count: Int) -> Double {
            let files = (0..<count).map { _ in File() }
            let all = files.map { $0.start() }.allSucceeded()
            let held = all.progress
            return withExtendedLifetime(held) {
                seconds { for step in 1...500 { files[0].reporter.report(completed: Int64(step), of: 1_000) } }
            }
        }
        #expect(ratio({ time(10) }, { time(3_000) }) < 4)
    }

    @Test func `the ends of a chain cost the same whatever its length`() {
        func time(_ count: Int) -> Double {
            let promise = Promise()
            let chain = (0..<count).reduce(Task(promise)) { task, _ in task.map { $0 } }
            let held = chain.progress
            return withExtendedLifetime(held) { seconds { promise.succeed(with: 1) } }
        }
        #expect(ratio({ time(500) }, { time(4_000) }) < 8 * 5)
    }

    @Test func `taking back an observer costs the same whatever their number`() {
        func time(_ count: Int) -> Double {
            let task = Task(Promise())
            let observers = (0..<count).map { _ in task.uponProgress(on: .immediate) { _ in } }
            return seconds { for observer in observers { observer.cancel() } }
        }
        #expect(ratio({ time(500) }, { time(4_000) }) < 8 * 5)
    }
}
