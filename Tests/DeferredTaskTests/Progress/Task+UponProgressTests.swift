import DeferredCore
import DeferredTask
import DeferredTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct UponProgressTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `it is called now, after changes, and at the end`() {
        let (producer, reporter, log) = (Producer(), ProgressReporter(), Log<Double>())
        let task = Task(producer, reporter: reporter)
        task.uponProgress(on: .immediate) { log.add($0.fraction) }
        #expect(log.entries == [0])
        reporter.report(completed: 1, of: 4)
        reporter.report(completed: 1, of: 4)
        reporter.report(completed: 3, of: 4)
        reporter.report(completed: 2, of: 4)
        producer.succeed(with: 1)
        reporter.report(completed: 4, of: 4)
        // The second report changed nothing; the fourth changes the completed count, but the fraction never goes back.
        #expect(log.entries == [0, 0.25, 0.75, 0.75, 1])
    }

    @Test func `the last call for a failed task reports how far it got`() {
        let (producer, reporter, log) = (Producer(), ProgressReporter(), Log<Double>())
        Task(producer, reporter: reporter).uponProgress(on: .immediate) { log.add($0.fraction) }
        reporter.report(completed: 1, of: 2)
        producer.fail(with: CancellationError())
        #expect(log.entries == [0, 0.5, 0.5])
    }

    @Test func `a task that has ended is reported once`() {
        let log = Log<Double>()
        Task.success(1).uponProgress(on: .immediate) { log.add($0.fraction) }
        Task<Int>.failure(CancellationError()).uponProgress(on: .immediate) { log.add($0.fraction) }
        let producer = Producer()
        let task = Task(producer)
        producer.succeed(with: 1)
        task.uponProgress(on: .immediate) { log.add($0.fraction) }
        #expect(log.entries == [1, 0, 1])
    }

    @Test func `it continues although nobody holds the task`() {
        let (producer, reporter, log) = (Producer(), ProgressReporter(), Log<Double>())
        Task(producer, reporter: reporter).map { $0 }.uponProgress(on: .immediate) { log.add($0.fraction) }
        reporter.report(completed: 11, of: 20)
        #expect(log.entries == [0, 0.5])
        producer.succeed(with: 1)
        #expect(log.entries.last == 1)
    }

    @Test func `on a slow executor the newest wins`() {
        let (producer, reporter, executor) = (Producer(), ProgressReporter(), ManualExecutor())
        let log = Log<Int64>()
        Task(producer, reporter: reporter).uponProgress(on: executor) { log.add($0.completed) }
        for completed in 1...100 { reporter.report(completed: Int64(completed), of: 100) }
        #expect(executor.count == 1)
        executor.runAll()
        #expect(log.entries == [100])
        reporter.report(completed: 101, of: 200)
        reporter.report(completed: 102, of: 200)
        producer.succeed(with: 1)
        executor.runAll()
        #expect(log.entries == [100, 102])
    }

    @Test func `once cancelled, it never starts, and its captures are freed at once`() {
        let (producer, reporter, executor) = (Producer(), ProgressReporter(), ManualExecutor())
        let (log, lifetimes) = (Log<Double>(), Lifetimes())
        let task = Task(producer, reporter: reporter)
        let registration = task.uponProgress(on: executor) { [token = lifetimes.make()] snapshot in
            token.touch()
            log.add(snapshot.fraction)
        }
        #expect(lifetimes.count == 1)
        registration.cancel()
        #expect(lifetimes.count == 0)
        reporter.report(completed: 1, of: 2)
        producer.succeed(with: 1)
        executor.runAll()
        #expect(log.entries.isEmpty)
    }

    @Test func `a handler that cancels itself is not called again`() {
        let (producer, reporter, log) = (Producer(), ProgressReporter(), Log<Int64>())
        let registration = Lock<Registration?>(nil)
        let new = Task(producer, reporter: reporter).uponProgress(on: .immediate) { snapshot in
            log.add(snapshot.completed)
            if snapshot.completed == 2 { registration.withLock { $0 }?.cancel() }
        }
        registration.withLock { $0 = new }
        for completed in 1...3 { reporter.report(completed: Int64(completed), of: 3) }
        producer.succeed(with: 1)
        #expect(log.entries == [0, 1, 2])
    }

    @Test func `a task that ends while the handler runs on another thread is reported with its units`() {
        let (producer, reporter, log) = (Producer(), ProgressReporter(total: 4), Log<Int64>())
        let running = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let reported = DispatchSemaphore(value: 0)
        let executor = Threads { ended.signal() }
        Task(producer, reporter: reporter).uponProgress(on: executor) { snapshot in
            log.add(snapshot.completed)
            running.signal()
            if log.entries.count == 1 { ended.wait() } else { reported.signal() }
        }
        running.wait()
        reporter.report(completed: 3, of: 4)
        producer.fail(with: CancellationError())
        reported.wait()
        #expect(log.entries == [0, 3])
    }

    @Test func `after the end nothing is kept`() {
        let lifetimes = Lifetimes()
        let (producer, reporter) = (Producer(), ProgressReporter())
        let task = Task(producer, reporter: reporter)
        task.uponProgress(on: .immediate) { [token = lifetimes.make()] _ in token.touch() }
        producer.succeed(with: 1)
        #expect(lifetimes.count == 0)
        #expect(task.peek() != nil)
    }

    @Test func `a handler may report, and is not called within itself`() {
        let (producer, reporter, log) = (Producer(), ProgressReporter(), Log<Int64>())
        let depth = Atomic(0)
        Task(producer, reporter: reporter).uponProgress(on: .immediate) { snapshot in
            #expect(depth.wrappingAdd(1, ordering: .relaxed).oldValue == 0)
            log.add(snapshot.completed)
            if snapshot.completed < 10_000 { reporter.report(completed: snapshot.completed + 1, of: 10_000) }
            depth.wrappingSubtract(1, ordering: .relaxed)
        }
        #expect(log.entries == Array(0...10_000))
        producer.succeed(with: 1)
    }

    @Test func `throughput is that of the last seconds`() {
        let (producer, reporter, clock) = (Producer(), ProgressReporter(unit: .bytes), ManualClock())
        let log = Log<ProgressSnapshot>()
        let task = Task(producer, reporter: reporter)
        _ = task.observeProgress(on: ImmediateExecutor(), clock: clock) { snapshot, _ in log.add(snapshot) }
        #expect(log.entries.last?.throughput == nil)
        clock.advance(by: .seconds(2))
        reporter.report(completed: 100, of: 1_000)
        #expect(log.entries.last?.throughput == 50)
        #expect(log.entries.last?.estimatedTimeRemaining == .seconds(18))
        producer.succeed(with: 1)
    }

    @Test @MainActor func `on the main actor it may change main-actor state`() async {
        let (producer, reporter) = (Producer(), ProgressReporter())
        var fractions: [Double] = []
        let task = Task(producer, reporter: reporter)
        task.uponProgress(on: .mainActor) { fractions.append($0.fraction) }
        reporter.report(completed: 1, of: 2)
        producer.succeed(with: 1)
        await withCheckedContinuation { continuation in
            task.upon(.main) { _ in continuation.resume() }
        }
        #expect(fractions.last == 1)
    }

    @Test func `calls come one after the other, never go back, and the last is whole, from many threads`() {
        for _ in 0..<200 {
            let (producer, reporter) = (Producer(), ProgressReporter())
            let (log, running, done) = (Log<Double>(), Counter(), Deferred<Void>())
            let task = Task(producer, reporter: reporter)
            task.uponProgress(on: .global()) { snapshot in
                #expect(running.enter() == 1)
                log.add(snapshot.fraction)
                running.leave()
                if snapshot.fraction == 1 { done.fill() }
            }
            race(4) { thread in
                if thread == 0 {
                    producer.succeed(with: 1)
                } else {
                    for step in 1...50 { reporter.report(completed: Int64(step), of: 50) }
                }
            }
            done.wait()
            #expect(log.entries == log.entries.sorted())
        }
    }

    @Test func `reports race with taking back: it never starts afterwards`() {
        for _ in 0..<500 {
            let (producer, reporter) = (Producer(), ProgressReporter())
            let lifetimes = Lifetimes()
            let isTakenBack = Flag()
            let task = Task(producer, reporter: reporter)
            let registration = task.uponProgress(on: .immediate) { [token = lifetimes.make()] _ in
                token.touch()
                #expect(!isTakenBack.isSet)
            }
            race(3) { thread in
                switch thread {
                case 0:
                    for step in 1...20 { reporter.report(completed: Int64(step), of: 20) }
                case 1:
                    producer.succeed(with: 1)
                default:
                    registration.cancel()
                }
            }
            isTakenBack.set()
            reporter.report(completed: 100, of: 100)
            #expect(lifetimes.count == 0)
        }
    }
}

/// Runs each closure at once, on some thread, and tells when it has returned.
private struct Threads: Executor {
    let onReturn: @Sendable () -> Void

    func submit(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().async {
            body()
            // The closure's captures are freed before.
            onReturn()
        }
    }
}

private final class Counter: Sendable {
    private let count = Atomic(0)
    func enter() -> Int { count.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
    func leave() { count.wrappingSubtract(1, ordering: .acquiringAndReleasing) }
}

private final class Flag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
