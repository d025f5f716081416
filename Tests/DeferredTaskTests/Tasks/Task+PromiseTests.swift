import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskPromiseTests {
    @Test func `the first to fill a promise ends its task`() async throws {
        let promise = Task<Int>.Promise()
        let task = Task(promise)
        #expect(promise.peek() == nil)
        #expect(promise.succeed(with: 1))
        #expect(!promise.fail(with: CancellationError()))
        #expect(!promise.fill(with: .success(2)))
        #expect(try await task.value == 1)
        #expect(try promise.peek()?.get() == 1)
    }

    @Test func `a task of a task is that task`() {
        let (promise, reporter) = (Task<Int>.Promise(), ProgressReporter(total: 10))
        let task = Task(promise, reporter: reporter) { $0.fail(with: CancellationError()) }
        let same = Task(task)
        reporter.add(5)
        #expect(same.progress.fractionCompleted == 0.5)
        same.cancel()
        #expect(same.isFilled && task.isCancelled)
    }

    @Test func `a promise of nothing succeeds without a value`() async throws {
        let promise = Task<Void>.Promise()
        let task = Task(promise)
        #expect(promise.succeed())
        #expect(!promise.succeed())
        try await task.value
    }

    @Test func `mustFill fills`() {
        let promise = Task<Int>.Promise()
        promise.mustFill(with: .success(1))
        #expect(Task(promise).valueNow == 1)
    }

    @Test func `mustFill releases the task's cancellation handler`() {
        let lifetimes = Lifetimes()
        let promise = Task<Int>.Promise()
        let task = Task(promise) { [token = lifetimes.make()] _ in token.touch() }
        promise.mustFill(with: .success(1))
        withExtendedLifetime(task) { #expect(lifetimes.count == 0) }
    }

    #if os(macOS) || os(Linux)
    @Test func `mustFill traps the second time`() async {
        let exit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let promise = Task<Int>.Promise()
            promise.fail(with: CancellationError())
            promise.mustFill(with: .success(1))
        }
        let text = String(decoding: exit?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Task+PromiseTests.swift") && text.contains("this promise is already filled"))
    }
    #endif

    @Test func `a promise that is dropped unfilled fails its task, with its file and line`() async {
        let task = Self.lostTask()
        let error = await #expect(throws: BrokenPromise.self) { try await task.value }
        #expect(error?.line == Self.lineOfPromise)
        #expect("\(error?.file ?? "")" == "DeferredTaskTests/Task+PromiseTests.swift")
        #expect(error?.description.contains("Task+PromiseTests.swift:\(Self.lineOfPromise)") == true)
    }

    private static let lineOfPromise: UInt = #line + 4

    /// Returns the task of a promise that only a released completion handler held.
    private static func lostTask() -> Task<Int> {
        let promise = Task<Int>.Promise()
        let task = Task(promise).map { $0 + 1 }
        let handler: @Sendable (Int) -> Void = { promise.succeed(with: $0) }
        withExtendedLifetime(handler) { #expect(task.peek() == nil) }
        return task
    }

    /// Returns a task whose cancellation would fill its promise, which is lost.
    private static func lostTaskWithHandler(_ lifetimes: Lifetimes) -> Task<Int> {
        let promise = Task<Int>.Promise()
        return Task(promise) { [token = lifetimes.make()] promise in
            token.touch()
            promise.fail(with: CancellationError())
        }
    }

    @Test func `a promise can be lost although its cancellation handler fills it and the task is held`() async {
        let lifetimes = Lifetimes()
        @Sendable func lost() -> Task<Int> { Self.lostTaskWithHandler(lifetimes) }
        let held = [
            lost(), lost().map { $0 }, lost().flatMap { .success($0) }, Task.success(1).flatMap { _ in lost() },
        ]
        let waiting = Deferred<Void>()
        let started = Task(succeedsFrom: waiting).flatMap { lost() }
        waiting.fill()
        for task in held + [started] {
            #expect(task.failureNow is BrokenPromise)
        }
        await #expect(throws: BrokenPromise.self) { try await lost().value }
        await #expect(throws: BrokenPromise.self) { try await lost().get() }
        await #expect(throws: BrokenPromise.self) { try await lost().map { $0 }.get() }
        #expect(lifetimes.count == 0)
        withExtendedLifetime(held) {}
    }

    @Test func `a task whose promise is given to the cancellation handler is cancelled by it`() async {
        let (promise, other) = (Task<Int>.Promise(), Task<Int>.Promise())
        let task = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        let reporting = Task(other, reporter: ProgressReporter(), uponCancel: { $0.succeed(with: 3) })
        for task in [task, reporting] { task.cancel() }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(reporting.valueNow == 3)
        #expect(!promise.succeed(with: 1))
    }

    @available(*, deprecated)
    @Test func `a cancellation handler without a parameter that captures the promise makes no cycle`() async {
        let lifetimes = Lifetimes()
        do {
            let promise = Task<Int>.Promise()
            _ = Task(promise) { [token = lifetimes.make()] in
                token.touch()
                promise.fail(with: CancellationError())
            }
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `each of several tasks of one promise is cancelled by itself`() {
        let promise = Task<Int>.Promise()
        let calls = Log<Int>()
        let tasks = (0..<3).map { index in Task(promise) { _ in calls.add(index) } }
        tasks[1].cancel()
        #expect(calls.entries == [1])
        #expect(tasks.map(\.isCancelled) == [false, true, false])
        promise.succeed(with: 1)
        for task in tasks { task.cancel() }
        #expect(calls.entries == [1])
        #expect(tasks.map(\.isCancelled) == [false, true, false])
    }

    @Test func `cancellation handlers are released before handlers of the end run`() {
        let lifetimes = Lifetimes()
        let promise = Task<Int>.Promise()
        let tasks = (0..<2).map { _ in Task(promise) }
        let counts = Log<Int>()
        for task in tasks { task.upon(.immediate) { _ in counts.add(lifetimes.count) } }
        for task in tasks { task.uponCancel { [token = lifetimes.make()] in token.touch() } }
        #expect(lifetimes.count == 2)
        promise.succeed(with: 1)
        #expect(counts.entries == [0, 0])
    }
}
