import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

/// Tests that operators nested to any depth are filled, cancelled and dropped on a small stack.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct NestingTests {
    enum Operator: CaseIterable {
        case map, flatMap, recover, fallback, timeout, delay, allSucceeded, firstSucceeded, firstCompleted, mapTasks,
            shared, handler, progress

        func callAsFunction(_ task: Task<Int>) -> Task<Int> {
            switch self {
            case .map: task.map { $0 }
            case .flatMap: Task.success(0).delayed().flatMap { _ in task }
            case .recover: task.recover { throw $0 }
            case .fallback: task.fallback { .failure($0) }
            case .timeout: task.timeout(after: .seconds(100_000))
            case .delay: task.delay(for: .seconds(100_000))
            case .allSucceeded: [task, .success(0)].allSucceeded().map { $0[0] }
            case .firstSucceeded: [task, .failure(CancellationError())].firstSucceeded()
            case .firstCompleted: [task, .never].firstCompleted()
            case .mapTasks: [task].mapTasks(maxConcurrent: 1) { $0 }.map { $0[0] }
            case .shared: task.shared()
            case .handler: Task(task, uponCancel: { task.cancel() })
            case .progress: Task(task, progress: task.progress)
            }
        }
    }

    enum End: CaseIterable {
        case succeed, fail, cancel, drop
        /// Nobody follows the progress any more: its end must not read it at each level.
        case cancelAfterProgress
    }

    // A stack of this size overflows at some 1,500 levels of recursion in a debug build.
    private static let stackSize = (isSanitized ? 512 : 256) << 10
    private static let depth = isSanitized ? 2_000 : 3_000

    @Test(arguments: Operator.allCases, End.allCases)
    func `operators nest to any depth`(nested: Operator, end: End) async {
        let (isRight, alive) = await onThread(stackSize: Self.stackSize) {
            let lifetimes = Lifetimes()
            let isRight = Self.isRight(nested, end, lifetimes)
            return (isRight, lifetimes.count)
        }
        #expect(isRight)
        #expect(alive == 0)
    }

    /// - Parameter isEnded: True if the last task ends, and is not only released.
    @Test(arguments: [false, true])
    func `cancellation handlers hold tasks whose handlers hold others, to any depth`(isEnded: Bool) async {
        await onThread(stackSize: Self.stackSize) {
            var (producer, last) = (Deferred<Task<Int>.Result>(), Task<Int>?.none)
            for _ in 0..<Self.depth {
                producer = Deferred()
                last = Task(producer, uponCancel: { [last] in withExtendedLifetime(last) {} })
            }
            if isEnded { producer.fill(with: .success(1)) }
            last = nil
        }
    }

    private static func isRight(_ nested: Operator, _ end: End, _ lifetimes: Lifetimes) -> Bool {
        let promise = Task<Int>.Promise()
        var task = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        for _ in 0..<depth { task = nested(task) }
        task.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        // A delay takes its time, unless it is cancelled.
        defer { task.cancel() }
        switch end {
        case .succeed:
            promise.succeed(with: 1)
            return task.valueNow == 1 || nested == .delay
        case .fail:
            promise.fail(with: TimeoutError(duration: .zero))
            return task.isFilled || nested == .delay
        case .cancel, .cancelAfterProgress:
            if end == .cancelAfterProgress, task.progress.fractionCompleted == 1 { return false }
            task.cancel()
            return task.isFilled && task.valueNow == nil && task.isCancelled
        case .drop:
            return true
        }
    }

    enum Joining: CaseIterable {
        case twice, derivedTwice, derived, sharedTwice

        func callAsFunction(_ task: Task<Int>) -> Task<Int> {
            switch self {
            case .twice: [task, task].allSucceeded().map { $0[0] }
            case .derivedTwice: [task.map { $0 }, task.map { $0 }].firstCompleted()
            case .derived: [task.map { $0 }, .never].firstCompleted()
            case .sharedTwice: [task.shared(), task.shared()].firstSucceeded()
            }
        }
    }

    /// Tests that each stage is visited once, although 2ⁿ paths lead from the last to the first.
    @Test(arguments: Joining.allCases, End.allCases)
    func `a task that is reachable by many paths is counted and ended once`(joined: Joining, end: End) async {
        let (isEnded, isMonotonic, count) = await onThread(stackSize: 512 << 10) {
            let lifetimes = Lifetimes()
            var (isEnded, isMonotonic) = (false, false)
            do {
                let promise = Task<Int>.Promise()
                var task = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
                for _ in 0..<(isSanitized ? 12 : 40) { task = joined(task) }
                let before = task.progress.fractionCompleted
                for _ in 0..<(isSanitized ? 12 : 40) { task = joined(task) }
                let seen = Log<Double>()
                let observer = task.uponProgress(on: .immediate) { seen.add($0.fraction) }
                // Covers tasks that nobody observes, too, since these take another code path.
                if joined == .derived || end == .drop { observer.cancel() }
                task.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
                switch end {
                case .succeed: promise.succeed(with: 1)
                case .fail: promise.fail(with: TimeoutError(duration: .zero))
                case .cancel, .cancelAfterProgress: task.cancel()
                case .drop: break
                }
                isEnded = task.isFilled == (end != .drop)
                isMonotonic = seen.entries == seen.entries.sorted() && task.progress.fractionCompleted >= before
            }
            return (isEnded, isMonotonic, lifetimes.count)
        }
        #expect(isEnded && isMonotonic)
        #expect(count == 0)
    }

    @Test(arguments: Joining.allCases)
    func `a task that is reachable by many paths is cancelled fast if nobody follows it`(joined: Joining) async {
        let isCancelled = await onThread(stackSize: 512 << 10) {
            let promise = Task<Int>.Promise()
            var task = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
            for _ in 0..<(isSanitized ? 30 : 300) { task = joined(task) }
            task.cancel()
            return task.isCancelled && task.isFilled && promise.isFilled
        }
        #expect(isCancelled)
    }

    @Test func `attempts and fan-outs that start others nest to any depth`() async {
        let (retried, mapped) = await onThread(stackSize: Self.stackSize) {
            @Sendable func retrying(_ depth: Int) -> Task<Int> {
                Task.retry(RetryPolicy(attempts: 1)) { _ in depth == 0 ? .success(1) : retrying(depth - 1) }
            }
            @Sendable func mapping(_ depth: Int) -> Task<Int> {
                [depth].mapTasks(maxConcurrent: 1) { $0 == 0 ? .success(1) : mapping($0 - 1) }.map { $0[0] }
            }
            let depth = isSanitized ? 1_000 : 10_000
            return (retrying(depth).valueNow, mapping(depth).valueNow)
        }
        #expect(retried == 1 && mapped == 1)
    }

    @Test func `reports that observers pass on from task to task nest to any depth`() async {
        let completed = await onThread(stackSize: 512 << 10) {
            let (last, log) = (ProgressReporter(), Log<Int64>())
            let promises = (0...Self.depth).map { _ in Task<Int>.Promise() }
            defer { withExtendedLifetime(promises) {} }
            Task(promises[0], reporter: last, uponCancel: { _ in }).uponProgress(on: .immediate) {
                log.add($0.completed)
            }
            let first = promises.dropFirst().reduce(last) { next, promise in
                let reporter = ProgressReporter()
                Task(promise, reporter: reporter, uponCancel: { _ in }).uponProgress(on: .immediate) {
                    next.report(completed: $0.completed, of: $0.total)
                }
                return reporter
            }
            for completed in 1...3 as ClosedRange<Int64> { first.report(completed: completed, of: 4) }
            return log.entries
        }
        #expect(completed == [0, 1, 2, 3])
    }

    @Test func `linked sources nest to any depth`() async {
        await onThread(stackSize: Self.stackSize) {
            let first = CancellationTokenSource()
            var sources = [first]
            for _ in 0..<Self.depth {
                sources.append(CancellationTokenSource(linkedTo: sources[sources.count - 1].token))
            }
            let log = Log<Int>()
            sources[Self.depth].token.register { log.add(1) }
            first.cancel()
            #expect(log.entries == [1])
            #expect(!sources.contains { !$0.isCancelled })
            sources = []
        }
    }

    @Test func `tasks that cancel one another nest to any depth`() async {
        await onThread(stackSize: Self.stackSize) {
            var promises: [Task<Int>.Promise] = []
            var last = Task<Int>.never
            for _ in 0..<Self.depth {
                let promise = Task<Int>.Promise()
                promises.append(promise)
                last = Task(promise) { [last] promise in
                    last.cancel()
                    promise.fail(with: CancellationError())
                }
            }
            last.cancel()
            #expect(!promises.contains { !$0.isFilled })
        }
    }
}

extension Task {
    /// Returns a task with the same result over a future that was unfilled when the task was made.
    fileprivate func delayed() -> Task {
        let deferred = Deferred<Result>()
        defer { upon(.immediate) { deferred.fill(with: $0) } }
        return Task(deferred)
    }
}
