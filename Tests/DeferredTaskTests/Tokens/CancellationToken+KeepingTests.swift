import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

private typealias Task = DeferredTask.Task

/// Tests that a token cancels its task also when nobody holds the task, and keeps nothing after its end.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CancellationTokenKeepingTests {
    private struct Failure: Error {}

    /// Producers that end when they are told to stop, and that only the world outside keeps.
    private final class World: Sendable {
        private let promises = Lock<[Task<Int>.Promise]>([])
        let lifetimes = Lifetimes()

        func work() -> Task<Int> {
            let promise = Task<Int>.Promise()
            promises.withLock { $0.append(promise) }
            return Task(promise) { [token = lifetimes.make()] promise in
                token.touch()
                promise.fail(with: CancellationError())
            }
        }

        func failed() -> Task<Int> {
            let promise = Task<Int>.Promise()
            defer { promise.fail(with: Failure()) }
            return Task(promise)
        }

        func succeedAll() {
            for promise in promises.withLock({ $0 }) { promise.succeed(with: 1) }
        }
    }

    private enum Kind: CaseIterable {
        case promise, map, always, flatMap, innerOfFlatMap, fallback, shared, timeout, delay, retry, mapTasks
        case allSucceeded, firstSucceeded, firstCompleted, zip, loop

        func start(in world: World) -> Task<Int> {
            switch self {
            case .promise: world.work()
            case .map: world.work().map { $0 }.map { $0 }
            case .always: world.work().always { _ in }
            case .flatMap: world.work().flatMap { .success($0) }
            case .innerOfFlatMap: Task.success(1).map(on: .immediate) { $0 }.flatMap { _ in world.work().map { $0 } }
            case .fallback: world.failed().fallback { _ in world.work() }
            case .shared: world.work().shared()
            case .timeout: world.work().timeout(after: .seconds(10_000), clock: ManualClock())
            case .delay: world.work().delay(for: .seconds(10_000), clock: ManualClock())
            case .retry: Task.retry(RetryPolicy(attempts: 3)) { _ in world.work() }
            case .mapTasks: (0..<10).mapTasks(maxConcurrent: 2) { _ in world.work() }.map(\.count)
            case .allSucceeded: [world.work(), world.work()].allSucceeded().map(\.count)
            case .firstSucceeded: [world.work(), world.work()].firstSucceeded()
            case .firstCompleted: [world.work(), world.work()].firstCompleted()
            case .zip: DeferredTask.zip(world.work(), world.work()).map { $0 + $1 }
            case .loop: world.work().flatMap { _ in world.work() }.flatMap { _ in world.work() }
            }
        }
    }

    @Test(arguments: Kind.allCases, [false, true])
    private func `a token cancels a task that nobody holds`(kind: Kind, isLinked: Bool) {
        let (world, source, ended) = (World(), CancellationTokenSource(), Log<Bool>())
        let linked = CancellationTokenSource(linkedTo: source.token)
        do {
            let token = isLinked ? linked.token : source.token
            kind.start(in: world).cancelled(by: token).upon(.immediate) { result in ended.add(result.isCancelled) }
        }
        #expect(ended.entries.isEmpty)
        source.cancel()
        #expect(ended.entries == [true])
        #expect(world.lifetimes.count == 0)
        withExtendedLifetime((world, linked)) {}
    }

    @Test(arguments: [false, true])
    func `a token cancels what a closure has started, without a handler`(isInner: Bool) {
        let (source, log) = (CancellationTokenSource(), Log<String>())
        let (first, second) = (Task<Int>.Promise(), Task<Int>.Promise())
        do {
            let task = Task(first).flatMap { _ in
                Task(second) { promise in
                    log.add("stop")
                    promise.fail(with: CancellationError())
                }
            }.cancelled(by: source.token)
            if isInner { _ = Task.success(1).flatMap { [task] _ in task } }
        }
        first.succeed(with: 1)
        #expect(log.entries.isEmpty)
        source.cancel()
        #expect(log.entries == ["stop"])
    }

    @Test func `a token cancels a Swift task that nobody holds`() async {
        let (source, ended) = (CancellationTokenSource(), Deferred<Bool>())
        do {
            let task = Task { () async throws -> Int in
                while !Task.isCancelled { await Task.yield() }
                throw CancellationError()
            }
            task.cancelled(by: source.token).upon(.immediate) { result in
                ended.fill(with: result.isCancelled)
            }
        }
        source.cancel()
        #expect(await ended.value)
    }

    @Test(arguments: Kind.allCases)
    private func `nothing is kept after the end, or without the source`(kind: Kind) {
        let world = World()
        do {
            let source = CancellationTokenSource()
            _ = kind.start(in: world).cancelled(by: source.token)
            if kind != .timeout { world.succeedAll() }
            if kind != .delay, kind != .timeout { for _ in 0..<10 { world.succeedAll() } }
            withExtendedLifetime(source) {}
        }
        world.succeedAll()
        #expect(world.lifetimes.count == 0)
        // A long-lived source keeps nothing of what has ended, or of what was cancelled otherwise.
        let source = CancellationTokenSource()
        for _ in 0..<3 {
            let task = kind.start(in: world).cancelled(by: source.token).cancelled(by: source.token)
            task.cancel()
        }
        world.succeedAll()
        #expect(world.lifetimes.count == 0)
        withExtendedLifetime(source) {}
    }

    @Test func `a lost promise fails its task, whoever holds a source that could cancel it`() {
        let (source, ended) = (CancellationTokenSource(), Log<String>())
        do {
            let promise = Task<Int>.Promise()
            Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
                .cancelled(by: source.token)
                .map { $0 }
                .cancelled(by: source.token)
                .uponFailure(on: .immediate) { ended.add($0 is BrokenPromise ? "broken" : "\($0)") }
            withExtendedLifetime(promise) {}
        }
        #expect(ended.entries == ["broken"])
        withExtendedLifetime(source) {}
    }
}

extension Result where Failure == any Error {
    fileprivate var isCancelled: Bool {
        guard case .failure(let error) = self else { return false }
        return error.isCancellation || (error as? AllTasksFailed)?.errors.allSatisfy(\.isCancellation) == true
    }
}
