import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Tests that nothing is kept of a task once it is over. A new operator is one more line.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isSanitized))
struct HeapTests {
    private typealias Promise = Task<Int>.Promise
    private typealias Derivation = @Sendable (Task<Int>) -> Task<Int>

    private struct Failure: Error {}

    private static let policy = RetryPolicy(attempts: 2, base: .nanoseconds(1), cap: .nanoseconds(1), random: { 1 })

    private static let derivations: [(name: String, derive: Derivation)] = [
        ("no operator", { $0 }),
        ("map", { $0.map { $0 + 1 } }),
        ("map on a queue", { $0.map(on: .any()) { $0 + 1 } }),
        ("flatMap", { $0.flatMap { .success($0) } }),
        ("flatMap on a queue", { $0.flatMap(on: .any()) { .success($0) } }),
        ("flatMap to a later task", { $0.flatMap { value in .async(on: .global()) { value } } }),
        ("flatMap to a future", { $0.flatMap { Future(value: $0) } }),
        ("flatMap that throws", { $0.flatMap { _ in throw Failure() } }),
        ("recover", { $0.recover { _ in 1 } }),
        ("mapError", { $0.mapError { $0 } }),
        ("fallback", { $0.fallback { _ in .success(1) } }),
        ("fallback to a later task", { $0.fallback { _ in .async(on: .global()) { 1 } } }),
        ("always", { $0.always { _ in } }),
        ("always on a queue", { $0.always(on: .any()) { _ in } }),
        ("ignored", { $0.ignored().map { 1 } }),
        ("shared", { $0.shared() }),
        (
            "shared by two",
            { task in
                let shared = task.shared()
                return zip(shared, shared).map { $0.0 }
            }
        ),
        ("delay", { $0.delay(for: .nanoseconds(1)) }),
        ("timeout", { $0.timeout(after: .seconds(3_600)) }),
        ("timeout that passes", { $0.timeout(after: .nanoseconds(1)) }),
        (
            "retry",
            { task in
                // The closure is kept for further attempts: a task in it would keep what keeps the closure.
                let first = Lock<Task<Int>?>(task)
                return .retry(policy) { _ in first.withLock { $0.take() } ?? .failure(Failure()) }
            }
        ),
        ("zip", { zip($0, Task.success(1)).map { $0.0 } }),
        ("allSucceeded", { [$0, .success(1)].allSucceeded().map { $0[0] } }),
        ("firstSucceeded", { [$0, .failure(Failure())].firstSucceeded() }),
        ("firstSucceeded among the endless", { [$0, endless()].firstSucceeded() }),
        ("firstCompleted", { [$0, endless()].firstCompleted() }),
        ("mapTasks", { task in (0..<3).mapTasks(maxConcurrent: 3) { _ in task }.map { $0[0] } }),
        (
            "uponCancel",
            { task in
                task.uponCancel {}
                task.uponCancel {}.cancel()
                return task
            }
        ),
        (
            "uponSuccess",
            { task in
                task.uponSuccess(on: .immediate) { _ in }
                task.uponFailure(on: .any()) { _ in }
                return task
            }
        ),
        ("cancelled(by:)", { $0.cancelled(by: CancellationTokenSource().token) }),
        ("cancelled(by:) a source that lasts", { $0.cancelled(by: lastingSource.token) }),
        (
            "progress",
            { task in
                _ = task.progress
                return task.map { $0 }
            }
        ),
        (
            "progress of children",
            { task in
                let all = [task, .success(1), task.map { $0 }].allSucceeded()
                _ = all.progress
                return all.map { $0[0] }
            }
        ),
        (
            "uponProgress",
            { task in
                task.uponProgress(on: .immediate) { _ in }
                task.uponProgress(on: .any()) { _ in }.cancel()
                return task.map { $0 }
            }
        ),
        (
            "uponProgress of children",
            { task in
                let all = [task, .success(1), task.map { $0 }].allSucceeded()
                all.uponProgress(on: .immediate) { _ in }
                return all.map { $0[0] }
            }
        ),
        (
            "reported progress",
            { task in
                let reporter = ProgressReporter(total: 2)
                let promise = Promise()
                task.upon(.immediate) { promise.fill(with: $0) }
                let reporting = Task(promise, reporter: reporter) { $0.fail(with: CancellationError()) }
                reporting.uponProgress(on: .immediate) { _ in }
                reporter.report(completed: 1, of: 2)
                return reporting
            }
        ),
        (
            "Foundation's progress",
            { task in
                let following = Task(task.future, progress: Progress(totalUnitCount: 1))
                _ = following.progress
                return following
            }
        ),
        (
            "many",
            { task in
                task.map { $0 + 1 }.flatMap { .success($0) }.recover { _ in 1 }.always { _ in }.shared()
                    .fallback { _ in .success(1) }
            }
        ),
    ]

    /// What outlives all that was derived from it.
    private static let lasting = Promise()
    private static let lastingSource = CancellationTokenSource()
    private static let latest = LatestTask<Int>()

    /// Returns a task that ends only if it is cancelled.
    private static func endless() -> Task<Int> { Task(Promise()) { $0.fail(with: CancellationError()) } }

    private static let uses: [(name: String, use: @Sendable (Derivation) async throws -> Void)] = [
        (
            "that succeeds",
            { derive in
                let promise = Promise()
                let task = derive(Task(promise))
                promise.succeed(with: 1)
                _ = await task.result
            }
        ),
        (
            "that fails",
            { derive in
                let promise = Promise()
                let task = derive(Task(promise))
                promise.fail(with: Failure())
                _ = await task.result
            }
        ),
        ("that has succeeded", { derive in _ = await derive(.success(1)).result }),
        ("that has failed", { derive in _ = await derive(.failure(Failure())).result }),
        (
            "that is cancelled",
            { derive in
                let task = derive(endless())
                task.cancel()
                _ = await task.result
            }
        ),
        (
            "whose producer ignores the cancellation",
            { derive in
                let promise = Promise()
                let task = derive(Task(promise))
                task.cancel()
                promise.succeed(with: 1)
                _ = await task.result
            }
        ),
        (
            "that is dropped",
            { derive in
                _ = derive(Task(Deferred<Task<Int>.Result>()))
                // A timer that has passed waits for its turn on a queue, where that of this one comes after it.
                await Future(value: ()).delay(for: .nanoseconds(1)).value
            }
        ),
        ("whose promise is lost", { derive in _ = await derive(Task(Promise())).result }),
        (
            "whose awaiting task is cancelled",
            { derive in
                let task = derive(endless())
                let waiting = _Concurrency.Task { try await task.get() }
                waiting.cancel()
                _ = await waiting.result
            }
        ),
        ("that is cancelled, over a promise that lasts", { derive in derive(Task(lasting)).cancel() }),
    ]

    /// The uses that rightly leave something to wait: for the ends of tasks that were cancelled, or for a timer.
    private static let exceptions: [String: Set<String>] = [
        "that is cancelled, over a promise that lasts": [
            "always", "always on a queue", "zip", "allSucceeded", "firstSucceeded", "firstSucceeded among the endless",
            "progress of children", "uponSuccess", "uponProgress", "uponProgress of children", "reported progress",
        ],
        "that is dropped": ["timeout"],
    ]

    private static let derived = derivations.flatMap { derivation in
        uses.filter { !(exceptions[$0.name]?.contains(derivation.name) ?? false) }.map { use in
            MeteredOperation("\(derivation.name): a task \(use.name)") { try await use.use(derivation.derive) }
        }
    }

    private static let others: [MeteredOperation] = [
        .init("Task { }") { _ = await Task { 1 }.result },
        .init("Task { } that is cancelled") {
            let task = Task { try await endless().get() }
            task.cancel()
            _ = await task.result
        },
        .init("Task.detached") { _ = await Task.detached { 1 }.result },
        .init("Task(executorPreference:)") { _ = await Task(executorPreference: nil) { 1 }.result },
        .init("Task.async") { _ = await Task.async(on: .global()) { 1 }.result },
        .init("Task.async that is cancelled") {
            let task = Task.async(on: .global()) { 1 }
            task.cancel()
            _ = await task.result
        },
        .init("Task.catching") { _ = Task<Int>.catching { throw Failure() } },
        .init("value") { _ = try await Task.success(1).map(on: .any()) { $0 }.value },
        .init("get") { _ = try await Task.success(1).map(on: .any()) { $0 }.get() },
        .init("upon, removed from a task that lasts") { Task(lasting).upon(.immediate) { _ in }.cancel() },
        .init("a retry that fails twice") {
            _ = await Task<Int>.retry(policy) { _ in .failure(Failure()) }.result
        },
        .init("a retry that is cancelled in its pause") {
            let task = Task<Int>.retry(RetryPolicy(attempts: 2, base: .seconds(3_600))) { _ in .failure(Failure()) }
            task.cancel()
            _ = await task.result
        },
        .init("mapTasks that fails") {
            _ = await (0..<4).mapTasks(maxConcurrent: 2) { index -> Task<Int> in
                index == 0 ? .async(on: .global()) { throw Failure() } : endless()
            }.result
        },
        .init("progressUpdates to the end") {
            let promise = Promise()
            let reporter = ProgressReporter(total: 2)
            let task = Task(promise, reporter: reporter) {}
            for await snapshot in task.progressUpdates {
                if snapshot.completed == 0 { reporter.report(completed: 1, of: 2) } else { promise.succeed(with: 1) }
            }
        },
        .init("progressUpdates that is left") { for await _ in endless().progressUpdates { break } },
        .init("a source that is cancelled") {
            let source = CancellationTokenSource()
            source.token.register {}
            source.token.register {}.cancel()
            source.cancel()
        },
        .init("a source that is dropped") { CancellationTokenSource().token.register {} },
        .init("a registration that is removed from a source that lasts") {
            lastingSource.token.register {}.cancel()
        },
        .init("a source with a timer") { CancellationTokenSource().cancel(after: .seconds(3_600)) },
        .init("a source linked to one that lasts, cancelled") {
            CancellationTokenSource(linkedTo: lastingSource.token).cancel()
        },
        .init("a source linked to one that lasts, dropped") {
            CancellationTokenSource(linkedTo: lastingSource.token).token.register {}
        },
        .init("a source linked to two, one of them cancelled") {
            let source = CancellationTokenSource()
            let linked = CancellationTokenSource(linkedTo: source.token, lastingSource.token)
            source.cancel()
            precondition(linked.isCancelled)
        },
        .init("RequestToken") { RequestToken(endless()).cancel() },
        .init("LatestTask, superseded") { latest.start(endless(), on: .immediate) { _ in } },
        .init("LatestTask, ended") { latest.start(.success(1), on: .immediate) { _ in } },
        .init("LatestTask, cancelled") {
            latest.start(endless(), on: .any()) { _ in }
            latest.cancel()
        },
        .init("LatestTask, dropped") { LatestTask<Int>().start(endless(), on: .immediate) { _ in } },
        .init("LatestTask, debounced") {
            latest.start(after: .seconds(3_600), on: .any()) {
                .success(1)
            } deliver: { _ in
            }
        },
        .init("OperationQueue") {
            let queue = OperationQueue()
            _ = await Task.success(1).map(on: queue) { $0 }.result
        },
        .init("the main actor") { _ = await Task.success(1).map(on: .mainActor) { $0 }.result },
        .init("a task whose cancellation handler refers to itself, observed, at its end") {
            let deferred = Deferred<Task<Int>.Result>()
            let itself = Lock<Task<Int>?>(nil)
            let task = Task(deferred, reporter: ProgressReporter(total: 2)) { itself.withLock { $0 }?.cancel() }
            itself.withLock { $0 = task }
            task.uponProgress(on: .immediate) { _ in }
            task.uponProgress(on: .any()) { _ in }
            deferred.succeed(with: 1)
            _ = await task.result
        },
        .init("a task over another one, which it cancels, observed, at its end") {
            let promise = Promise()
            let inner = Task(promise)
            let outer = Task(inner.future, reporter: ProgressReporter(total: 2)) { inner.cancel() }
            outer.uponProgress(on: .immediate) { _ in }
            promise.succeed(with: 1)
            _ = await outer.result
        },
        .init("description") { _ = "\(endless())" },
    ]

    #if os(Linux)
    @Test(arguments: derivations.map(\.name))
    func `nothing is left`(by derivation: String) async {
        await #expect(processExitsWith: .success, "\(derivation)") { [derivation] in
            for operation in Self.derived where operation.name.hasPrefix(derivation + ":") {
                try await operation.expectNothingLeft(count: 100)
            }
        }
    }

    @Test(arguments: others.map(\.name))
    func `nothing is left after`(name: String) async {
        await #expect(processExitsWith: .success, "\(name)") { [name] in
            try await Self.others.expectNothingLeft(by: name)
        }
    }
    #endif
}
