import DeferredCore
import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskEscalatePriorityTests {
    /// The ways in which a task may depend on a `Task { }`.
    enum Way: CaseIterable, Sendable {
        case itself, detached, map, flatMap, fallback, zip, mapTasks, shared, timeout
        case taskOfFuture, taskOfMapped, children

        /// - Parameter task: A task of low priority.
        func derive(from task: Task<Int>, _ start: @escaping @Sendable () -> Task<Int>) -> Task<Int> {
            switch self {
            case .itself: task
            case .detached: .detached(priority: .background) { try await task.value }
            case .map: task.map { $0 }.recover { _ in 0 }.always { _ in }
            case .flatMap: Task.success(()).flatMap(on: .global()) { start() }
            case .fallback: Task<Int>.async(on: .global()) { throw CancellationError() }.fallback { _ in start() }
            case .zip: DeferredTask.zip(task, Task.success(1)).map { $0 * $1 }
            case .mapTasks: [task].mapTasks(maxConcurrent: 1) { $0 }.map { $0[0] }
            case .shared: task.shared()
            case .timeout: task.timeout(after: .seconds(3_600))
            case .taskOfFuture: Task(task.future).map { $0 }
            case .taskOfMapped: Task(task.map { $0 }.future)
            case .children: [Task(task.future)].allSucceeded().map { $0[0] }
            }
        }
    }

    /// The ways in which a task is awaited.
    enum Wait: CaseIterable, Sendable {
        case value, result, get

        func wait(for task: Task<Int>) async throws -> Int {
            switch self {
            case .value: try await task.value
            case .result: try await task.result.get()
            case .get: try await task.get()
            }
        }
    }

    /// Starts a task of low priority that ends when that is raised.
    @Sendable private static func start() -> Task<Int> {
        Task(priority: .background) {
            try await eventually { Task.currentPriority >= .high }
            return 1
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: Way.allCases, Wait.allCases)
    func `awaiting raises the priority`(way: Way, wait: Wait) async throws {
        let task = way.derive(from: Self.start(), Self.start)
        let waiting = _Concurrency.Task(priority: .high) { try await wait.wait(for: task) }
        #expect(try await waiting.value == 1)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: [Way.itself, .detached, .map, .flatMap, .fallback, .shared, .taskOfFuture], [false, true])
    func `awaiting a task's future raises the priority`(way: Way, isCancellable: Bool) async throws {
        let task = way.derive(from: Self.start(), Self.start)
        let waiting = _Concurrency.Task(priority: .high) {
            try await isCancellable ? task.future.get().get() : task.future.value.get()
        }
        #expect(try await waiting.value == 1)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: Wait.allCases)
    func `raising the priority of a task that waits raises that of the task it waits for`(wait: Wait) async throws {
        let task = Self.start()
        let waiting = _Concurrency.Task(priority: .background) { try await wait.wait(for: task) }
        try await eventually { task.storage.hasHandlers }
        waiting.escalatePriority(to: .high)
        #expect(try await waiting.value == 1)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: Way.allCases.filter { $0 != .detached })
    func `a priority is raised through what the task consists of`(way: Way) async throws {
        let first = Self.start()
        let task = way.derive(from: first, Self.start)
        task.escalatePriority(to: .high)
        try await eventually { task.isFilled }
        #expect(task.valueNow == 1)
        first.escalatePriority(to: .high)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `a task that starts after its parent's priority was raised gets that, too`() async throws {
        let producer = Deferred<Task<Int>.Result>()
        let inner = Task(producer).flatMap { _ in Task.success(()).flatMap(on: .global()) { Self.start() } }
        let task = inner.map { $0 }
        task.escalatePriority(to: .low)
        task.escalatePriority(to: .high)
        task.escalatePriority(to: .low)
        producer.succeed(with: 0)
        try await eventually { task.isFilled }
        #expect(task.valueNow == 1)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `a task that has ended, and one that no Swift task runs for, are left alone`() async throws {
        Task.success(1).escalatePriority(to: .high)
        Task<Int>.never.escalatePriority(to: .high)
        let task = Task(priority: .background) { 1 }
        _ = try await task.value
        task.escalatePriority(to: .high)
        #expect(task.valueNow == 1)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `the priority of tasks that await each other is raised through all of them`() async throws {
        let mayEnd = Deferred<Void>()
        let first = Task(priority: .background) {
            await mayEnd.value
            try await eventually { Task.currentPriority >= .high }
            return 0
        }
        let count = isSanitized ? 1_000 : 10_000
        var last = first
        for _ in 0..<count { last = Task(priority: .background) { [last] in try await last.value + 1 } }
        let waiting = _Concurrency.Task(priority: .high) { [last] in try await last.value }
        mayEnd.fill()
        #expect(try await waiting.value == count)
    }
}
