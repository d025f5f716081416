import DeferredCore
import DeferredTask
import TestSupport
import Testing

/// However deeply operators are nested, they are filled, cancelled and dropped on a small stack.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct NestingTests {
    enum Operator: CaseIterable {
        case map, flatMap, recover, fallback, timeout, delay, allSucceeded, firstSucceeded, firstCompleted, mapTasks,
            shared

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
            }
        }
    }

    enum End: CaseIterable { case succeed, fail, cancel, drop }

    // A stack of 512 KiB overflows at some 3,000 levels of recursion in a debug build.
    private static let depth = isSanitized ? 2_000 : 20_000

    @Test(arguments: Operator.allCases, End.allCases)
    func `operators nest as deeply as somebody writes`(nested: Operator, end: End) async {
        let (isRight, alive) = await onThread(stackSize: 512 << 10) {
            let lifetimes = Lifetimes()
            let isRight = Self.isRight(nested, end, lifetimes)
            return (isRight, lifetimes.count)
        }
        #expect(isRight)
        #expect(alive == 0)
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
        case .cancel:
            task.cancel()
            return task.isFilled && task.valueNow == nil && task.isCancelled
        case .drop:
            return true
        }
    }

    @Test func `linked sources nest as deeply as somebody writes`() async {
        await onThread(stackSize: 512 << 10) {
            let first = CancellationTokenSource()
            var sources = [first]
            for _ in 0..<Self.depth {
                sources.append(CancellationTokenSource(linkedTo: sources[sources.count - 1].token))
            }
            let log = Log<Int>()
            sources[Self.depth].token.register { log.add(1) }
            first.cancel()
            #expect(log.entries == [1])
            #expect(!sources.contains { !$0.isCancelling })
            sources = []
        }
    }

    @Test func `tasks that cancel one another nest as deeply as somebody writes`() async {
        await onThread(stackSize: 512 << 10) {
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
    /// The same, of a future that was not there yet when the operators came.
    fileprivate func delayed() -> Task {
        let deferred = Deferred<Result>()
        defer { upon(.immediate) { deferred.fill(with: $0) } }
        return Task(deferred)
    }
}
