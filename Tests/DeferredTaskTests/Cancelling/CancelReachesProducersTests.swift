import DeferredCore
import DeferredTask
import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests the law of cancelling, for each operator, while another thread moves the work on: when `cancel()` and the
/// other thread have returned, every producer upstream that was running has been told, and the task has ended.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct CancelReachesProducersTests {
    /// The work upstream of the task that is cancelled: `first` runs, and then `second`.
    enum Work: CaseIterable {
        case flatMap, flatMapFirst, flatMapTwice, nestedFlatMap, recursiveFlatMap, recover, fallback, always,
            alwaysInner
        case zip, allSucceeded, mapTasks, firstCompleted, shared, sharedTwice, timeout, retry, retryTwice

        fileprivate func callAsFunction(_ producers: Producers) -> Task<Int> {
            let first = producers.start()
            let second = producers.start
            let step: @Sendable (Int) -> Task<Int> = { _ in second() }
            switch self {
            case .flatMap: return first.flatMap(step)
            case .flatMapFirst: return first.map { $0 }.flatMap(step)
            case .flatMapTwice: return first.flatMap(step).flatMap(step)
            case .nestedFlatMap: return first.flatMap { [other = second()] _ in other.flatMap(step).flatMap(step) }
            case .recursiveFlatMap: return first.flatMap { Self.turn($0, second) }
            case .recover: return first.flatMap(step).recover { throw $0 }
            case .fallback: return first.fallback { _ in second() }
            case .always: return first.always { _ in }.flatMap(step).always { _ in }
            case .alwaysInner: return first.flatMap { _ in second().always { _ in } }
            case .zip: return DeferredTask.zip(first.flatMap(step), second()).map { $0.0 }
            case .allSucceeded: return [first.flatMap(step), second()].allSucceeded().map { $0[0] }
            case .mapTasks:
                let tasks = [first, first].mapTasks(maxConcurrent: 1) { $0.flatMap(step) }
                return tasks.map { $0[0] }
            case .firstCompleted: return [first.flatMap(step), second()].firstCompleted()
            case .shared: return first.shared().flatMap(step).shared()
            case .sharedTwice:
                let work = first.flatMap(step)
                return DeferredTask.zip(work.shared(), work.shared()).map { $0.0 }
            case .timeout: return first.flatMap(step).timeout(after: .seconds(1 << 33))
            case .retry: return Task.retry(RetryPolicy(attempts: 2)) { _ in first.flatMap(step) }
            case .retryTwice:
                return Task.retry(RetryPolicy(attempts: 2)) { _ in first.flatMap(step).flatMap(step) }.flatMap(step)
            }
        }

        /// A recursive `flatMap`, each of whose turns waits for one more producer.
        private static func turn(_ value: Int, _ start: @escaping @Sendable () -> Task<Int>) -> Task<Int> {
            start().flatMap { turn($0, start) }
        }

        /// The result of each producer that moves the work on.
        fileprivate var result: Task<Int>.Result { self == .fallback ? .failure(Moved()) : .success(1) }

        /// The number of producers after whose end there is still one running.
        fileprivate var steps: Int {
            switch self {
            case .flatMapTwice, .retryTwice: 2
            case .nestedFlatMap: 3
            case .recursiveFlatMap: 4
            default: 1
            }
        }
    }

    @Test(arguments: Work.allCases)
    func `a cancel that meets the next step reaches every producer, and the task ends`(_ work: Work) {
        check(work, rounds: isSanitized ? 60 : 300, waiting: 0)
    }

    @Test(arguments: Work.allCases)
    func `a cancel that meets the next step under 1,000 waiters reaches every producer, and ends all`(_ work: Work) {
        check(work, rounds: isSanitized ? 8 : 40, waiting: 1_000)
    }

    private func check(_ work: Work, rounds: Int, waiting: Int) {
        let (gate, outcomes) = (Gate(2), Log<Trial.Outcome>())
        let current = Lock<Trial?>(nil)
        race(2) { thread in
            for round in 0..<rounds {
                if thread == 0 { current.withLock { $0 = Trial(work, waiting: waiting, round) } }
                gate.pass()
                guard let trial = current.withLock({ $0 }) else { return }
                if thread == 0 { trial.cancel() } else { trial.moveOn() }
                gate.pass()
                if thread == 0 { outcomes.add(trial.outcome) }
            }
        }
        #expect(outcomes.entries.count == rounds)
        #expect(outcomes.entries.count { !$0.isEveryProducerTold } == 0, "rounds that left a producer running")
        #expect(outcomes.entries.count { !$0.hasEnded } == 0, "rounds that left a task that never ends")
        #expect(outcomes.entries.count { $0.waiting > 0 } == 0, "rounds that left a waiter without a result")
    }
}

/// One race of a cancel with the next steps of some work.
private final class Trial: Sendable {
    struct Outcome {
        let isEveryProducerTold: Bool
        let hasEnded: Bool
        let waiting: Int
    }

    private let work: CancelReachesProducersTests.Work
    private let round: Int
    private let producers = Producers()
    private let startedBefore: Int
    private let task: Task<Int>
    private let progress: Progress?
    private let waiting: Atomic<Int>

    /// - Parameter round: Decides how the task derives from the work, and whether somebody follows its progress.
    init(_ work: CancelReachesProducersTests.Work, waiting count: Int, _ round: Int) {
        (self.work, self.round) = (work, round)
        // Nobody keeps the work itself, so that its handlers may move on to what it waits for.
        let upstream = work(producers)
        startedBefore = producers.count
        task = round.isMultiple(of: 2) ? upstream.map { $0 } : upstream.always { _ in }
        progress = round.isMultiple(of: 3) ? task.progress : nil
        waiting = Atomic(count)
        for _ in 0..<count {
            _ = upstream.future.map { [weak self] _ in self?.waiting.subtract(1, ordering: .relaxed) }
        }
    }

    func moveOn() { producers.moveOn(with: work.result, upTo: work.steps) }

    /// Cancels the task a moment after the next producer has started, or at once.
    func cancel() {
        while !round.isMultiple(of: 4), producers.count == startedBefore { sched_yield() }
        for _ in 0..<(1 << (round % 10)) { _ = producers.count }
        task.cancel()
    }

    var outcome: Outcome {
        Outcome(
            isEveryProducerTold: producers.areFilled,
            hasEnded: task.isFilled,
            waiting: waiting.load(ordering: .relaxed)
        )
    }
}

private struct Moved: Error {}

/// The producers of one trial, in the order in which they were started. Each fails when it is told to stop.
private final class Producers: Sendable {
    private let running = Lock<[Task<Int>.Promise]>([])
    private let started = Atomic(0)

    var count: Int { started.load(ordering: .relaxed) }

    /// Starts one more.
    @Sendable
    func start() -> Task<Int> {
        let promise = Task<Int>.Promise()
        running.withLock { $0.append(promise) }
        defer { started.add(1, ordering: .relaxed) }
        return Task(promise) { $0.fail(with: CancellationError()) }
    }

    /// Ends up to `count` producers, one after another, each of which may start others.
    func moveOn(with result: Task<Int>.Result, upTo count: Int) {
        for index in 0..<count {
            running.withLock { index < $0.count ? $0[index] : nil }?.fill(with: result)
        }
    }

    var areFilled: Bool { running.withLock { $0 }.allSatisfy(\.isFilled) }
}
