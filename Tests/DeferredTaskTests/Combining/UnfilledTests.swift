import DeferredCore
import DeferredTask
import TestSupport
import Testing

/// Tests that a combination over a future which can't be filled any more is released with that future.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct UnfilledTests {
    enum Combining: CaseIterable {
        case delay, allSucceeded, firstSucceeded, firstCompleted, mapTasks, flatMap, sharedBySome, zip, always, mapError

        func callAsFunction(_ task: Task<Int>) -> Task<Int> {
            switch self {
            case .delay: task.delay(for: .seconds(100_000))
            case .allSucceeded: [task, .success(0)].allSucceeded().map { $0[0] }
            case .firstSucceeded: [task, .never].firstSucceeded()
            case .firstCompleted: [task, .never].firstCompleted()
            case .mapTasks: [task].mapTasks(maxConcurrent: 1) { $0 }.map { $0[0] }
            case .flatMap: task.flatMap { .success($0) }
            case .zip: DeferredTask.zip(task, Task.success("")).map { $0.0 }
            case .always: task.always { _ in }
            case .mapError: task.mapError { $0 }
            case .sharedBySome: [task.shared(), task.shared()].firstCompleted()
            }
        }
    }

    @Test(arguments: Combining.allCases, Combining.allCases)
    func `a combination over a lost future is freed`(one: Combining, other: Combining) {
        let lifetimes = Lifetimes()
        for isDerived in [false, true] {
            for combinesLate in [false, true] {
                var deferred: Deferred<Task<Int>.Result>? = Deferred()
                var task = Task(deferred!, uponCancel: { [token = lifetimes.make()] in token.touch() })
                if isDerived { task = task.map { $0 } }
                if combinesLate { deferred = nil }
                task = other(one(task))
                task.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
                deferred = nil
            }
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `a task whose future is lost can still be cancelled`() {
        let log = Log<Int>()
        var deferred: Deferred<Task<Int>.Result>? = Deferred()
        let derived = Task(deferred!, uponCancel: { log.add(1) }).map { $0 }
        deferred = nil
        derived.cancel()
        #expect(log.entries == [1])
        #expect(derived.failureNow is CancellationError)
    }
}
