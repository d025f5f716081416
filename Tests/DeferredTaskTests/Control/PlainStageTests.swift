import DeferredCore
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredTask

private typealias Task = DeferredTask.Task

/// Tests the stages of a chain that have no control until somebody asks for what only a control has.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct PlainStageTests {
    private typealias Promise = Task<Int>.Promise
    private struct Failure: Error {}

    private enum Operator: CaseIterable {
        case map, mapError, recover, always, ignored, mapOnQueue, mapOnMainActor

        func callAsFunction(_ task: Task<Int>) -> Task<Int> {
            switch self {
            case .map: task.map { $0 }
            case .mapError: task.mapError { $0 }
            case .recover: task.recover { throw $0 }
            case .always: task.always { _ in }
            case .ignored: task.ignored().map { 1 }
            case .mapOnQueue: task.map(on: .global()) { $0 }
            case .mapOnMainActor: task.map(on: .mainActor) { $0 }
            }
        }
    }

    private static func root(_ promise: Promise, _ body: @escaping @Sendable () -> Void = {}) -> Task<Int> {
        Task(promise) {
            body()
            $0.fail(with: CancellationError())
        }
    }

    @Test func `operators without work of their own make no control`() {
        let promise = Promise()
        let root = Self.root(promise)
        for plain in Operator.allCases { #expect(plain(root).control === root.control) }
        #expect(root.flatMap { .success($0) }.control !== root.control)
        #expect(root.fallback { .failure($0) }.control !== root.control)
        let consumer = root.shared()
        #expect(consumer.control !== root.control)
        // Each task derived from a consumer counts, and so has a control.
        #expect(consumer.map { $0 }.control !== consumer.control)
        let executor = ManualExecutor()
        #expect(Task.success(1).map(on: executor) { $0 }.control != nil)
        // What it has not run refers to the stage, and that to the executor.
        executor.runAll()
    }

    // MARK: - Cancelling

    @Test(arguments: [1, 2, 3, 4], [false, true])
    func `cancelling any stage calls the handlers of the stages above, and no others`(stage: Int, isRegistered: Bool) {
        let (promise, log) = (Promise(), Log<Int>())
        var tasks = [Self.root(promise) { log.add(0) }]
        for _ in 0..<4 { tasks.append(tasks[tasks.count - 1].map { $0 }) }
        if isRegistered {
            for index in 1...4 { tasks[index].uponCancel { log.add(index) } }
        }
        tasks[stage].cancel()
        #expect(log.entries == (isRegistered ? Array((0...stage).reversed()) : [0]))
        for (index, task) in tasks.enumerated() {
            #expect(task.isCancelled == (index <= stage))
            #expect(task.isFilled)
        }
    }

    @Test func `a stage that was cancelled knows it whoever asks later, and calls new handlers at once`() {
        let executor = ManualExecutor()
        let promise = Promise()
        let task = Self.root(promise).always(on: executor) { _ in }.always { _ in }
        task.cancel()
        #expect(task.isCancelled && !task.isFilled)
        let log = Log<Int>()
        task.uponCancel { log.add(1) }
        #expect(log.entries == [1])
        #expect(task.progress.isCancelled)
        let source = CancellationTokenSource()
        #expect(task.cancelled(by: source.token).isCancelled)
        executor.runAll()
        #expect(task.isFilled && task.isCancelled)
    }

    @Test func `a cancel after the end does nothing, at every stage`() {
        let promise = Promise()
        let first = Self.root(promise)
        let second = first.map { $0 }
        let third = second.map { $0 }
        promise.succeed(with: 1)
        for task in [third, second, first] {
            task.cancel()
            #expect(!task.isCancelled)
            #expect(task.valueNow == 1)
        }
    }

    @Test func `a stage that a flatMap or a combination waits for is cancelled with it`() {
        let derivations: [(Task<Int>) -> Task<Int>] = [
            { task in task.flatMap { _ in .never } },
            { task in
                let first = Deferred<Task<Int>.Result>()
                defer { first.succeed(with: 1) }
                return Task(first).flatMap { _ in task }
            },
            { task in zip(task, Task<Int>.never).map { $0.0 } },
            { task in task.shared() },
        ]
        for (index, derive) in derivations.enumerated() {
            let (promise, log) = (Promise(), Log<Int>())
            let plain = Self.root(promise) { log.add(0) }.map { $0 }.map { $0 }
            plain.uponCancel { log.add(1) }
            let task = derive(plain)
            task.cancel()
            #expect(log.entries == [1, 0], "at \(index)")
        }
    }

    @Test func `consumers of a plain stage are counted together`() {
        let (promise, log) = (Promise(), Log<Int>())
        let plain = Self.root(promise) { log.add(0) }.map { $0 }
        let consumers = [plain.shared(), plain.shared(), plain.shared()]
        consumers[0].cancel()
        consumers[1].cancel()
        #expect(log.entries.isEmpty)
        consumers[2].cancel()
        #expect(log.entries == [0])
    }

    @Test func `handlers of stages whose future is lost are called by a cancel further down`() {
        let log = Log<Int>()
        var task = Task(Deferred<Task<Int>.Result>()) { log.add(0) }
        for index in 1...3 {
            task = task.map { $0 }
            task.uponCancel { log.add(index) }
        }
        #expect(log.entries.isEmpty)
        let last = task.map { $0 }
        task = .never
        last.cancel()
        #expect(log.entries == [3, 2, 1, 0])
        #expect(last.isFilled)
    }

    // MARK: - Lifetimes

    @Test func `handlers are freed at the end of the stage`() {
        let (promise, executor, lifetimes) = (Promise(), ManualExecutor(), Lifetimes())
        let task = Self.root(promise).map { $0 }
        let later = task.map(on: executor) { $0 }
        for task in [task, later] { task.uponCancel { [token = lifetimes.make()] in token.touch() } }
        promise.succeed(with: 1)
        #expect(lifetimes.count == 1)
        executor.runAll()
        #expect(lifetimes.count == 0)
        withExtendedLifetime((task, later)) {}
    }

    @Test func `handlers are freed when nobody holds a task of the chain, or a source that can cancel it`() {
        let (promise, lifetimes) = (Promise(), Lifetimes())
        var source: CancellationTokenSource?
        var root: Task<Int>? = Self.root(promise)
        func derive() { root?.map { $0 }.uponCancel { [token = lifetimes.make()] in token.touch() } }
        derive()
        #expect(lifetimes.count == 1)
        root = nil
        #expect(lifetimes.count == 0)

        source = CancellationTokenSource()
        root = Self.root(promise)
        if let source { _ = root?.map { $0 }.cancelled(by: source.token) }
        derive()
        root = nil
        #expect(lifetimes.count == 1)
        source = nil
        #expect(lifetimes.count == 0)
        withExtendedLifetime(promise) {}
    }

    @Test func `a token cancels a plain stage that only others of its chain hold`() {
        let promise = Promise()
        let source = CancellationTokenSource()
        let root = Self.root(promise)
        let task = root.map { $0 }.cancelled(by: source.token).map { $0 }
        source.cancel()
        #expect(task.isFilled && root.isCancelled)
    }

    // MARK: - Progress

    @Test func `each plain stage counts 1, whoever asks, and when`() {
        let (promise, executor) = (Promise(), ManualExecutor())
        let task = Self.root(promise).map { $0 }.map { $0 }.map(on: executor) { $0 }
        let early = task.progress
        #expect(early.fractionCompleted == 0)
        promise.succeed(with: 1)
        #expect(isNear(early.fractionCompleted, 0.75))
        executor.runAll()
        #expect(early.fractionCompleted == 1)
    }

    @Test func `stages that ended before anybody asked count if their chain succeeded so far`() {
        for result in [Task<Int>.Result.success(1), .failure(Failure())] {
            let (promise, executor) = (Promise(), ManualExecutor())
            let task = Self.root(promise).map { $0 }.recover { _ in 2 }.always(on: executor) { _ in }
            promise.fill(with: result)
            #expect(isNear(task.progress.fractionCompleted, (try? result.get()) == nil ? 0 : 0.75))
            executor.runAll()
            #expect(task.progress.fractionCompleted == 1)
        }
    }

    @Test func `plain stages before and within a flatMap count`() {
        let (first, second) = (Promise(), Promise())
        let task = Self.root(first).map { $0 }.map { $0 }.flatMap { _ in Self.root(second).map { $0 } }.map { $0 }
        let progress = task.progress
        #expect(progress.fractionCompleted == 0)
        first.succeed(with: 1)
        #expect(isNear(progress.fractionCompleted, 0.6))
        #expect(isNear(task.progress.fractionCompleted, 0.6))
        second.succeed(with: 1)
        #expect(progress.fractionCompleted == 1)
    }

    // MARK: - Asking late

    /// What is asked of a stage while its chain ends.
    /// Holds a task, as a request or a view does.
    private final class Upload: Sendable {
        let task: Task<Int>
        let stopped = Atomic(false)

        init(_ task: Task<Int>) { self.task = task }
    }

    @Test
    func `a handler that refers weakly to the object that holds its task leaves nothing, also if the task never ends`()
    {
        let promise = Task<Int>.Promise()
        weak var gone: Upload?
        do {
            let upload = Upload(Task(promise).map { $0 })
            upload.task.uponCancel { [weak upload] in upload?.stopped.store(true, ordering: .relaxed) }
            gone = upload
            #expect(gone != nil)
        }
        #expect(gone == nil && !promise.isFilled)
    }

    private enum Question: CaseIterable { case cancel, cancelByToken, uponCancel, progress, uponProgress, shared, zip }

    @Test(arguments: Question.allCases, [false, true])
    private func `a chain gets its control late, at any stage, while it ends`(question: Question, isCancelling: Bool) {
        let rounds = isSanitized ? 200 : 1_000
        let (told, fractions) = (Log<Int>(), Log<Double>())
        let lifetimes = Lifetimes()
        var chains: [(promise: Promise, tasks: [Task<Int>])] = []
        for round in 0..<rounds {
            let promise = Promise()
            var tasks = [Self.root(promise) { told.add(round) }]
            for index in 0..<6 { tasks.append(index == 3 ? tasks[3].always { _ in } : tasks[index].map { $0 }) }
            chains.append((promise, tasks))
        }
        let gate = Gate(2)
        race(2) { [chains] thread in
            for (round, (promise, tasks)) in chains.enumerated() {
                gate.pass()
                if thread == 0 {
                    for _ in 0..<(round % 50) { _ = promise.isFilled }
                    if isCancelling { tasks[6].cancel() } else { promise.succeed(with: 1) }
                } else {
                    Self.ask(question, tasks[1 + round % 6], lifetimes, fractions)
                }
            }
        }
        for (promise, tasks) in chains {
            let isAsking = question == .cancel || question == .cancelByToken
            for task in tasks { #expect(task.isFilled) }
            if !isAsking, !isCancelling { #expect(tasks[6].valueNow == 1) }
            if tasks[0].isCancelled == false { #expect(tasks[0].valueNow == 1) }
            withExtendedLifetime(promise) {}
        }
        #expect(Set(told.entries).count == told.entries.count)
        if isCancelling { #expect(told.entries.count == rounds) }
        #expect(fractions.entries.allSatisfy { (0...1).contains($0) })
        chains = []
        #expect(lifetimes.count == 0)
    }

    private static func ask(_ question: Question, _ task: Task<Int>, _ lifetimes: Lifetimes, _ fractions: Log<Double>) {
        switch question {
        case .cancel:
            task.cancel()
            if task.isCancelled { task.uponCancel { [token = lifetimes.make()] in token.touch() } }
        case .cancelByToken:
            let source = CancellationTokenSource()
            _ = task.cancelled(by: source.token)
            source.cancel()
        case .uponCancel: task.uponCancel { [token = lifetimes.make()] in token.touch() }
        case .progress:
            let progress = task.progress
            let first = progress.fractionCompleted
            fractions.add(first)
            if task.progress.fractionCompleted < first { fractions.add(-1) }
        case .uponProgress:
            let last = Lock<(fraction: Double, isSet: Bool)>((0, true))
            task.uponProgress(on: .immediate) { [token = lifetimes.make()] snapshot in
                token.touch()
                let old = last.withLock { last in
                    defer { last.fraction = snapshot.fraction }
                    return last.fraction
                }
                if snapshot.fraction < old { fractions.add(-1) }
            }
        case .shared: task.shared().uponCancel { [token = lifetimes.make()] in token.touch() }
        case .zip: DeferredTask.zip(task, task.map { $0 }).uponCancel { [token = lifetimes.make()] in token.touch() }
        }
    }

    // MARK: - Long chains

    private enum End: CaseIterable { case cancel, cancelWithHandlers, progress, drop, dropWithHandlers, lose }

    @Test(arguments: End.allCases)
    private func `chains of any length need no stack`(end: End) async {
        // Each end of a stage makes whoever follows the progress look at all of them.
        let count = end == .progress ? 1_000 : isSanitized ? 10_000 : 100_000
        let alive = await onThread(stackSize: 512 << 10) {
            let (lifetimes, log) = (Lifetimes(), Log<Int>())
            let source: Deferred<Task<Int>.Result>? = Deferred()
            var task = source.map { source in
                Task(source) {
                    log.add(1)
                    source.fail(with: CancellationError())
                }
            }!
            for _ in 0..<count {
                task = task.map { $0 }
                if end == .cancelWithHandlers || end == .dropWithHandlers || end == .lose {
                    task.uponCancel { [token = lifetimes.make()] in token.touch() }
                }
            }
            switch end {
            case .cancel, .cancelWithHandlers:
                task.cancel()
                if log.entries != [1] || !task.isCancelled { return -1 }
            case .progress:
                let progress = task.progress
                if progress.fractionCompleted != 0 { return -2 }
                source?.succeed(with: 1)
                if progress.fractionCompleted != 1 { return -3 }
            case .drop, .dropWithHandlers, .lose: break
            }
            task = .never
            return lifetimes.count
        }
        #expect(alive == 0)
    }

    #if os(macOS) || os(Linux)
    @Test(.enabled(if: !isSanitized))
    func `states of stages that have ended are not kept by a task that lives on`() async {
        await #expect(processExitsWith: .success) {
            let promise = Task<Int>.Promise()
            let root = Task(promise)
            promise.succeed(with: 1)
            let executor = ManualExecutor()
            func round() {
                for _ in 0..<20_000 {
                    let task = root.map(on: executor) { $0 }
                    task.uponCancel {}
                    _ = task.progress
                    executor.runAll()
                }
            }
            round()
            let before = heapInUse()
            round()
            precondition(heapInUse() - before < 100_000)
        }
    }
    #endif
}

private func isNear(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 1e-8 }
