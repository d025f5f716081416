import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredTask

/// Tests of the combining operators: their common behaviour, and each operator by itself.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct CombinationTests {
    typealias Producer = Deferred<Task<Int>.Result>

    /// Tasks that are ended by hand, and record their cancellation.
    struct Children: Sendable {
        let producers: [Producer]
        let tasks: [Task<Int>]
        let cancelled = Log<Int>()

        init(_ count: Int) {
            let producers = (0..<count).map { _ in Producer() }
            self.producers = producers
            tasks = producers.enumerated().map { [cancelled] index, producer in
                Task(producer) {
                    cancelled.add(index)
                    producer.fail(with: CancellationError())
                }
            }
        }
    }

    private static let operators: [(name: String, combine: @Sendable ([Task<Int>]) -> Task<Int>)] = [
        ("allSucceeded", { $0.allSucceeded().map { $0.reduce(0, +) } }),
        ("firstSucceeded", { $0.firstSucceeded() }),
        ("firstCompleted", { $0.firstCompleted() }),
    ]

    // MARK: Common behaviour

    @Test func `cancelling a combined task cancels its children`() {
        for (name, combine) in Self.operators {
            let children = Children(3)
            let task = combine(children.tasks)
            task.cancel()
            #expect(children.cancelled.entries.sorted() == [0, 1, 2], "\(name)")
            #expect(task.peek() != nil && task.isCancelled, "\(name)")
        }
    }

    @Test func `progress that a child has reported stays while it is cancelled`() {
        let (failing, reporting) = (Producer(), Producer())
        let reporter = ProgressReporter(unit: .bytes)
        let counted = Log<Int64>()
        nonisolated(unsafe) var tree: Task<[Int]>?
        let child = Task(reporting, reporter: reporter) {
            if let node = tree?.handle?.node { counted.add(Int64(clamping: node.sum?.share.bytes.completed ?? 0)) }
        }
        tree = [Task(failing), child].allSucceeded()
        let watching = tree?.uponProgress(on: .immediate) { _ in }
        reporter.report(completed: 40, of: 100)
        failing.fail(with: CancellationError())
        #expect(counted.entries == [40])
        watching?.cancel()
        tree = nil
    }

    @Test func `after the end nothing is cancelled, and nothing is kept`() {
        for (name, combine) in Self.operators {
            let lifetimes = Lifetimes()
            let (producer, other) = (Producer(), Producer())
            let task = combine([
                Task(producer) { [token = lifetimes.make()] in token.touch() },
                Task(other) { [token = lifetimes.make()] in token.touch() },
            ])
            #expect(lifetimes.count == 2, "\(name)")
            producer.succeed(with: 1)
            other.succeed(with: 1)
            #expect(task.peek() != nil, "\(name)")
            #expect(lifetimes.count == 0, "\(name)")
            task.cancel()
            #expect(!task.isCancelled, "\(name)")
        }
    }

    @Test func `it ends though nobody keeps the task`() {
        for (name, combine) in Self.operators {
            let (children, log) = (Children(2), Log<String>())
            combine(children.tasks).upon(.immediate) { _ in log.add(name) }
            for producer in children.producers { producer.succeed(with: 1) }
            #expect(log.entries == [name])
        }
    }

    @Test func `children that ended before count at once, and cancel the rest`() {
        let children = Children(2)
        let failed = [children.tasks[0], .failure(Failure.custom), children.tasks[1]].allSucceeded()
        #expect(failed.failureNow as? Failure == .custom)
        #expect(children.cancelled.entries.sorted() == [0, 1])

        let others = Children(2)
        let won = [others.tasks[0], .success(5), others.tasks[1]].firstSucceeded()
        #expect(won.valueNow == 5)
        #expect(others.cancelled.entries.sorted() == [0, 1])
    }

    @Test func `children that are added after the end keep no handler, even if they go on`() {
        let promise = Task<Int>.Promise()
        let running = Task(promise)
        #expect([.success(1), running].firstCompleted().valueNow == 1)
        #expect(running.isCancelled)
        #expect(!running.storage.hasHandlers)
    }

    @Test func `a combined task counts as its children do`() {
        let (first, second) = (ProgressReporter(), ProgressReporter())
        let (one, two, three) = (Producer(), Producer(), Producer())
        let task = [Task(one, reporter: first), Task(two, reporter: second), Task(three)].allSucceeded()
        let progress = task.progress
        first.report(completed: 1, of: 2)
        second.report(completed: 1, of: 4)
        // Two tasks that report progress have a weight of 10 each, and the third a weight of 1.
        #expect(abs(progress.fractionCompleted - 7.5 / 21) < 1e-6)
        two.succeed(with: 0)
        #expect(abs(progress.fractionCompleted - 15.0 / 21) < 1e-6)
        one.succeed(with: 0)
        three.succeed(with: 0)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `ends race: one wins, the task ends once, the rest are cancelled`() {
        for _ in 0..<(isSanitized ? 200 : 1_000) {
            for (name, combine) in Self.operators {
                let (children, ends) = (Children(3), Log<Int>())
                let task = combine(children.tasks)
                task.upon(.immediate) { _ in ends.add(1) }
                race(4) { index in
                    switch index {
                    case 0: children.producers[0].succeed(with: 1)
                    case 1: children.producers[1].fail(with: Failure.custom)
                    case 2: children.producers[2].succeed(with: 3)
                    default: task.cancel()
                    }
                }
                #expect(ends.entries == [1], "\(name)")
            }
        }
    }

    // MARK: allSucceeded

    @Test func `allSucceeded keeps the order, whatever comes first`() {
        let children = Children(3)
        let task = children.tasks.allSucceeded()
        for index in [2, 0, 1] {
            #expect(task.peek() == nil)
            children.producers[index].succeed(with: index * 10)
        }
        #expect(task.valueNow == [0, 10, 20])
        #expect(children.cancelled.entries.isEmpty)
    }

    @Test func `allSucceeded fails with the first failure, and cancels the rest before its handlers run`() {
        let (children, log) = (Children(3), Log<Int>())
        let task = children.tasks.allSucceeded()
        task.upon(.immediate) { _ in log.add(children.cancelled.entries.count) }
        children.producers[1].fail(with: Failure.custom)
        #expect(task.failureNow as? Failure == .custom)
        #expect(children.cancelled.entries.sorted() == [0, 2])
        #expect(log.entries == [2])
    }

    @Test func `allSucceeded of none has succeeded`() {
        #expect([Task<Int>]().allSucceeded().valueNow == [])
    }

    @Test func `allFilled has every result`() {
        let children = Children(2)
        let all = children.tasks.allFilled()
        children.producers[0].fail(with: Failure.custom)
        children.producers[1].succeed(with: 1)
        #expect(all.peek()?.map { (try? $0.get()) ?? -1 } == [-1, 1])
        #expect(children.cancelled.entries.isEmpty)
    }

    // MARK: firstSucceeded

    @Test func `firstSucceeded passes failures by, and cancels the rest`() {
        let children = Children(3)
        let task = children.tasks.firstSucceeded()
        children.producers[0].fail(with: Failure.custom)
        #expect(task.peek() == nil)
        children.producers[2].succeed(with: 2)
        #expect(task.valueNow == 2)
        #expect(children.cancelled.entries == [1])
    }

    @Test func `firstSucceeded fails with all errors in order`() throws {
        let children = Children(2)
        let task = children.tasks.firstSucceeded()
        children.producers[1].fail(with: Failure.other)
        children.producers[0].fail(with: Failure.custom)
        let error = try #require(task.failureNow as? AllTasksFailed)
        #expect(error.errors.map { $0 as? Failure } == [.custom, .other])
        #expect("\(error)" == "none of 2 tasks succeeded: custom; other")
    }

    @Test(arguments: [100, 101])
    func `a failure of many tasks describes a hundred errors`(count: Int) throws {
        let tasks = (0..<count).map { _ in Task<Int>.failure(Failure.custom) }
        let error = try #require(tasks.firstSucceeded().failureNow as? AllTasksFailed)
        #expect(error.errors.count == count)
        #expect(error.description.split(separator: "; ").count == count)
        #expect(error.description.hasSuffix("; …") == (count > 100))
    }

    @Test func `firstSucceeded of none has failed`() throws {
        let error = try #require([Task<Int>]().firstSucceeded().failureNow as? AllTasksFailed)
        #expect(error.errors.isEmpty)
        #expect("\(error)" == "no task succeeded, because the collection was empty")
    }

    // MARK: firstCompleted

    @Test func `firstCompleted ends as the first to end, and cancels the rest`() {
        for ending in [Task<Int>.Result.success(1), .failure(Failure.custom)] {
            let children = Children(3)
            let task = children.tasks.firstCompleted()
            children.producers[1].fill(with: ending)
            #expect(children.cancelled.entries.sorted() == [0, 2])
            #expect(task.valueNow == (try? ending.get()))
            #expect(task.peek() != nil)
        }
    }

    @Test func `firstCompleted of none never ends, and can be dropped`() {
        #expect([Task<Int>]().firstCompleted().peek() == nil)
    }

    #if os(macOS) || os(Linux)
    @Test func `rounds against a task that never ends keep memory flat`() async {
        await #expect(processExitsWith: .success) {
            let endless = Task<Int>.never
            func rounds(_ count: Int) {
                for round in 0..<count {
                    // Shared, so that losing does not cancel it.
                    let task = [endless.shared(), .success(round)].firstCompleted()
                    precondition(task.peek() != nil)
                }
            }
            rounds(2_000)
            let before = residentMemory()
            rounds(50_000)
            let growth = residentMemory() - before
            // A sanitizer keeps a history, which can be of any size.
            precondition(growth < 4 << 20 || isSanitized, "\(growth) bytes more than before")
        }
    }
    #endif
}

private enum Failure: Error { case custom, other }
