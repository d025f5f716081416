#if DEBUG
import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore
@testable import DeferredTask

private typealias Task = DeferredTask.Task

/// Tests that no interleaving of a task's next step with a cancel, a registration or a look loses one of them.
///
/// Threads take turns at each operation on a future's word, and before each lock.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isThreadSanitized))
struct TaskNodeInterleavingTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var work: TaskWorld.Work
        var ends: [TaskWorld.End]
        var scripts: [[TaskWorld.Action]]
        /// The minimum number of interleavings, so that an exploration of little or nothing fails.
        var atLeast: Int

        init(
            _ name: String,
            _ atLeast: Int,
            _ work: TaskWorld.Work,
            ends: [TaskWorld.End] = TaskWorld.End.allCases,
            _ scripts: [TaskWorld.Action]...
        ) {
            (testDescription, self.work, self.ends, self.scripts) = (name, work, ends, scripts)
            self.atLeast = atLeast
        }

        /// Reading a progress takes so many steps that a second interruption would take minutes.
        var interruptions: Int { scripts.contains([.readProgress]) && !isThorough ? 1 : 2 }
    }

    @Test(
        arguments: [
            Scenario("step of a flatMap × cancel", 1_000, .flatMap, [.step], [.cancel]),
            Scenario("step of a flatMap × cancel of itself", 750, .flatMap, [.step], [.cancelWork]),
            Scenario("step of a flatMap × look at its end", 130, .flatMap, [.step], [.look]),
            Scenario("step of a flatMap × handler", 230, .flatMap, [.step], [.register]),
            Scenario("step of a flatMap × token", 1_400, .flatMap, [.step], [.useToken]),
            Scenario("two steps of a flatMap × cancel", 1_600, .flatMap, [.step, .step], [.cancel]),
            Scenario("step of a fallback × cancel", 1_092, .fallback, [.step], [.cancel]),
            Scenario(
                "two steps of nested flatMaps × cancel",
                3_500,
                .nested,
                ends: [.always],
                [.step, .step],
                [.cancel]
            ),
            Scenario("step within a shared task × cancel", 2_800, .shared, ends: [.always], [.step], [.cancel]),
            Scenario("step within a zip × cancel", 6_000, .zip, ends: [.always], [.step], [.cancel]),
            Scenario("step of plain stages × cancel", 100, .plain, [.step], [.cancel]),
            Scenario("step of plain stages × cancel of one of them", 100, .plain, [.step], [.cancelWork]),
            Scenario("step of plain stages × handler", 50, .plain, [.step], [.register]),
            Scenario("step of plain stages × token", 100, .plain, [.step], [.useToken]),
            Scenario("step of plain stages × progress", 50, .plain, [.step], [.readProgress]),
            Scenario("cancel of plain stages × cancel of one of them", 100, .plain, [.cancel], [.cancelWork]),
            Scenario("cancel of plain stages × handler", 100, .plain, [.cancel], [.register]),
            Scenario("cancel of plain stages × progress", 100, .plain, [.cancel], [.readProgress]),
            Scenario("handler × handler of a plain stage", 20, .plain, [.register], [.register]),
            Scenario("lost plain stages × cancel", 100, .plain, ends: [.map], [.lose], [.cancel]),
            Scenario("lost plain stages × handler", 50, .plain, ends: [.map], [.lose], [.register]),
            Scenario("step of a flatMap among plain stages × cancel", 1_000, .plainFlatMap, [.step], [.cancel]),
            Scenario("step of a flatMap to plain stages × cancel", 1_000, .flatMapToPlain, [.step], [.cancel]),
            Scenario("two steps to plain stages × cancel", 2_000, .flatMapToPlain, [.step, .step], [.cancel]),
            Scenario("step of a flatMap to plain stages × progress", 80, .flatMapToPlain, [.step], [.readProgress]),
        ]
    )
    func `every interleaving keeps every request`(scenario: Scenario) {
        for end in scenario.ends {
            let explorer = Explorer(actors: scenario.scripts.count, interruptions: scenario.interruptions)
            explorer.explore { TaskWorld(scenario.work, end, scenario.scripts).run }
            #expect(explorer.violation == nil)
            #expect(explorer.interleavings >= scenario.atLeast)
        }
    }
}

/// Work of up to three producers, one after another, and a task that is derived from it.
///
/// SAFETY: everything belongs to the holder of the explorer's baton.
final class TaskWorld: @unchecked Sendable {
    enum Action: Sendable {
        /// Ends the producer that runs.
        case step
        /// Cancels the derived task.
        case cancel
        /// Cancels the work, as its progress would.
        case cancelWork
        /// Looks whether the work has ended, as whoever follows its progress does.
        case look
        /// Registers a handler with the cancellation of the work.
        case register
        /// Lets a token cancel the work, and cancels the token.
        case useToken
        /// Reads the progress of the derived task, which makes nodes for all stages that have not ended.
        case readProgress
        /// Drops the producer, which then can't end the work any more.
        case lose
    }

    enum Work: Sendable { case flatMap, fallback, nested, shared, zip, plain, plainFlatMap, flatMapToPlain }

    /// The last operator.
    enum End: CaseIterable { case map, always }

    /// SAFETY: like `TaskWorld`.
    private final class Producer: @unchecked Sendable {
        let promise = Task<Int>.Promise()
        var isRunning = false

        func start() -> Task<Int> {
            isRunning = true
            return Task(promise) { [unowned self] promise in
                isRunning = false
                promise.fail(with: CancellationError())
            }
        }

        func end(with result: Task<Int>.Result) {
            isRunning = false
            promise.fill(with: result)
        }
    }

    private struct Failure: Error {}

    private let producers = (0..<3).map { _ in Producer() }
    /// The producer of work that may be lost.
    private var source: Deferred<Task<Int>.Result>?
    private let work: Work
    private let scripts: [[Action]]
    private let result: Task<Int>.Result
    private let lifetimes = Lifetimes()
    /// The work's handle; nobody keeps the work itself, so that its handlers move to what it waits for.
    private var control: TaskHandle?
    /// Unowned, which keeps the memory from being reused for another word.
    private unowned let storage: FutureStorage<Task<Int>.Result>
    private var task: Task<Int>?
    private var steps = 0
    private var (isCancelled, calls) = (false, 0)
    /// True once something has begun that may end the work, whose cancellation then calls no handler any more.
    private var mayHaveEnded = false
    /// The number of handlers that had been registered by then.
    private var leastCalls = 0
    private var violation: String?

    init(_ work: Work, _ end: End, _ scripts: [[Action]]) {
        (self.work, self.scripts) = (work, scripts)
        result = work == .fallback ? .failure(Failure()) : .success(1)
        let producers = producers
        let isLosing = scripts.joined().contains(.lose)
        let source = isLosing ? Deferred<Task<Int>.Result>() : nil
        self.source = source
        let first = source.map { Task($0) } ?? producers[0].start()
        let upstream: Task<Int> =
            switch work {
            case .flatMap: first.flatMap { _ in producers[1].start() }
            case .fallback: first.fallback { _ in producers[1].start() }
            case .nested: first.flatMap { _ in producers[1].start().flatMap { _ in producers[2].start() } }
            case .shared: first.flatMap { _ in producers[1].start() }.shared()
            case .plain: first.map { $0 }.always { _ in }.map { $0 }
            case .plainFlatMap: first.map { $0 }.map { $0 }.flatMap { _ in producers[1].start() }
            case .flatMapToPlain: first.flatMap { _ in producers[1].start().map { $0 }.always { _ in } }
            case .zip: DeferredTask.zip(first.flatMap { _ in producers[1].start() }, producers[2].start()).map { $0.0 }
            }
        (control, storage) = (upstream.handle, upstream.storage)
        task = end == .map ? upstream.map { $0 } : upstream.always { _ in }
    }

    var run: Explorer.Run {
        Explorer.Run(
            actors: scripts.map { script in { for action in script { self.perform(action) } } },
            check: { self.violation },
            end: { self.end() },
            guarded: [storage.word.bits.address]
        )
    }

    private func perform(_ action: Action) {
        mayHaveEnded = mayHaveEnded || work == .plain && [.step, .cancel, .cancelWork].contains(action)
        switch action {
        case .step:
            steps += 1
            producers[steps - 1].end(with: result)
        case .cancel:
            task?.cancel()
            isCancelled = true
        case .cancelWork:
            control?.cancel()
            isCancelled = true
        case .look:
            if control?.isEnded == true { violation = "the work looks ended, though it still waits" }
        case .register:
            control?.token().register { [unowned self, token = lifetimes.make()] in
                token.touch()
                calls += 1
            }
            if !mayHaveEnded { leastCalls += 1 }
        case .useToken:
            let source = CancellationTokenSource()
            control?.cancel(when: source.token)
            source.cancel()
            isCancelled = true
        case .readProgress:
            guard let handle = task?.handle else { return }
            let edge = TaskNode.follow(handle, .reader {})
            _ = handle.node.progress(of: handle, hasSucceeded: false)
            TaskNode.release([edge])
        case .lose:
            source = nil
        }
    }

    private func end() -> String? {
        if let violation { return violation }
        let registered = scripts.joined().count { $0 == .register }
        let isRegistered = registered > 0
        if isRegistered {
            control?.cancel()
            if calls < leastCalls || calls > registered { return "the handler was called \(calls) times" }
        }
        if isCancelled || isRegistered {
            if let index = producers.firstIndex(where: \.isRunning) { return "producer \(index) was not told" }
        } else {
            for producer in producers { producer.end(with: .success(1)) }
        }
        if scripts.joined().contains(.lose), !isCancelled {
            task?.cancel()
        }
        if task?.isFilled != true { return "the task has not ended" }
        (control, task) = (nil, nil)
        return lifetimes.count > 0 ? "a handler is leaked" : nil
    }
}
#endif
