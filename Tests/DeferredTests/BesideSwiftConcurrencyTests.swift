import Deferred
import Foundation
import Testing

// What programs do with Swift's own tasks, in a file in which `Task` is the library's.

/// With `import Deferred`, the name of Swift's own type takes a module, or an alias.
private typealias SwiftTask = _Concurrency.Task

@Suite(.timeLimit(.minutes(1)))
struct BesideSwiftConcurrencyTests {
    @Test func `a task succeeds with what its closure returns`() async throws {
        let task: Task<Int> = Task { 1 }
        #expect(try await task.value == 1)
        #expect(try await Task { await twice(21) }.value == 42)
        #expect(try await task.result.get() == 1)
        let nothing: Task<Void> = Task {}
        try await nothing.value
    }

    @Test func `a task fails with what its closure throws`() async throws {
        let task = Task<Int> { throw Failure.custom }
        await #expect(throws: Failure.custom) { try await task.value }
        await #expect(throws: Failure.custom) { try await Task.detached { try await failing() }.value }
        let recovered = Task {
            do { return try await failing() } catch { return -1 }
        }
        #expect(try await recovered.value == -1)
    }

    @MainActor
    @Test func `a closure that could run here and now does not, unless asked to`() async throws {
        let model = Model()
        let later = Task { model.items.append(1) }
        #expect(model.items.isEmpty)
        try await later.value
        #expect(model.items == [1])
        #expect(try Task.catching { 1 }.peek()?.get() == 1)
    }

    // MARK: - Actors

    @MainActor
    @Test func `in a class on the main actor, a task changes state without self and without await`() async throws {
        let model = Model()
        model.load()
        try await model.loading?.value
        #expect(model.items == [1, 2, 4])
    }

    @MainActor
    @Test func `tasks that the main actor makes begin in the order in which they were made`() async throws {
        let model = Model()
        let count = 2_000
        for item in 0..<count { Task { model.items.append(item) } }
        try await Task { #expect(model.items == Array(0..<count)) }.value
    }

    @Test func `tasks that an actor makes begin in the order in which they were made`() async throws {
        let account = Account()
        try await account.deposit(1...2_000).value
        #expect(await account.deposits == Array(1...2_000))
    }

    @Test func `a task takes the actor of its closure, and a detached one that it names`() async throws {
        try await Task { @MainActor in MainActor.assertIsolated() }.value
        try await Task.detached { @MainActor in MainActor.assertIsolated() }.value
        let account = Account()
        #expect(try await account.depositLater(5).value == 5)
    }

    @MainActor
    @Test func `a detached task does not take the actor that makes it`() async throws {
        // Not the main thread: a program may end that, and leave the main queue to another.
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        defer { DispatchQueue.main.setSpecific(key: mark, value: nil) }
        #expect(try await Task { DispatchQueue.getSpecific(key: mark) }.value == true)
        #expect(try await Task.detached { DispatchQueue.getSpecific(key: mark) }.value == nil)
    }

    @Test func `what is handed over to a task need not be Sendable`() async throws {
        let box = Box()
        #expect(try await Task { box.increment() }.value == 1)
    }

    // MARK: - Cancelling

    @Test func `cancelling tells the closure`() async throws {
        let spinning = Task {
            while !Task.isCancelled { await Task.yield() }
            return Task.isCancelled
        }
        spinning.cancel()
        #expect(try await spinning.value)
        #expect(spinning.isCancelled)

        let throwing = Task.detached {
            while true {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        throwing.cancel()
        await #expect(throws: CancellationError.self) { try await throwing.value }
    }

    @Test func `cancelling ends each kind of sleep`() async {
        let sleepers = [
            Task { try await Task.sleep(for: .seconds(10_000)) },
            Task { try await Task.sleep(for: .seconds(10_000), tolerance: .seconds(1), clock: .suspending) },
            Task { try await Task.sleep(until: .now + .seconds(10_000)) },
            Task { try await Task.sleep(nanoseconds: 10_000_000_000_000) },
        ]
        for sleeper in sleepers {
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
    }

    @Test func `sleeping ends by itself`() async throws {
        try await Task.sleep(for: .nanoseconds(1))
        try await Task.sleep(until: .now, clock: .continuous)
        try await Task.sleep(nanoseconds: 1)
    }

    @MainActor
    @Test func `a task cancelled before it begins runs all the same`() async throws {
        let task = Task { Task.isCancelled }
        task.cancel()
        #expect(try await task.value)
    }

    @Test func `cancelling runs the cancellation handlers inside, and ends a stream`() async throws {
        let (cancelled, waiting) = (Deferred<Void>(), Deferred<Void>())
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let task = Task {
            await withTaskCancellationHandler {
                var sum = 0
                for await number in stream {
                    sum += number
                    waiting.fill()
                }
                return sum
            } onCancel: {
                cancelled.fill()
            }
        }
        continuation.yield(42)
        try await waiting.get()
        #expect(!cancelled.isFilled)
        task.cancel()
        #expect(cancelled.isFilled)
        #expect(try await task.value == 42)
    }

    @Test func `cancelling reaches child tasks`() async throws {
        let group = Task {
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<3 { group.addTask { await isCancelledAtLast() } }
                return await group.reduce(0) { $1 ? $0 + 1 : $0 }
            }
        }
        let bindings = Task {
            async let (one, other) = (isCancelledAtLast(), isCancelledAtLast())
            return await [one, other] == [true, true]
        }
        group.cancel()
        bindings.cancel()
        #expect(try await group.value == 3)
        #expect(try await bindings.value)
    }

    @Test func `waiting for the value does not cancel, get() does`() async throws {
        let (begun, release) = (Deferred<Void>(), Deferred<Void>())
        let inner = Task {
            await release.value
            return Task.isCancelled
        }
        let waiting = Task {
            begun.fill()
            return try await inner.value
        }
        try await begun.get()
        waiting.cancel()
        release.fill()
        #expect(try await !waiting.value)

        let spinning = Task { await isCancelledAtLast() }
        let structured = Task { try await spinning.get() }
        structured.cancel()
        #expect(try await structured.value && spinning.isCancelled)
    }

    @MainActor
    @Test func `a task kept in a property is cancelled with its owner`() async throws {
        var model: Model? = Model()
        model?.watch()
        let watching = try #require(model?.loading)
        model = nil
        await #expect(throws: CancellationError.self) { try await watching.value }
    }

    // MARK: - What a task inherits

    @Test func `a task inherits task-local values, a detached one does not`() async throws {
        let (task, nested, detached) = Locals.$number.withValue(1) {
            (
                Task { Locals.number },
                Task { try await Task { Locals.number }.value },
                Task.detached { Locals.number }
            )
        }
        #expect(try await task.value == 1)
        #expect(try await nested.value == 1)
        #expect(try await detached.value == 0)
    }

    @Test func `a task has the priority it is given, or its maker's; a detached one has not`() async throws {
        #expect(try await Task(priority: .low) { Task.basePriority }.value == .low)
        #expect(try await Task(priority: .high) { Task.currentPriority }.value >= .high)
        #expect(try await Task.detached(priority: .background) { Task.basePriority }.value == .background)
        let nested = Task(priority: .background) {
            (try await Task { Task.basePriority }.value, try await Task.detached { Task.basePriority }.value)
        }
        let (inherited, detached) = try await nested.value
        #expect(inherited == .background)
        #expect(detached != .background)
    }

    @available(macOS 26, *)
    @Test func `a task has the name it is given`() async throws {
        #expect(try await Task(name: "one") { Task.name }.value == "one")
        #expect(try await Task.detached(name: "other", priority: .high) { Task.name }.value == "other")
        #expect(try await Task { Task.name }.value == nil)
    }

    // MARK: - Structure

    @Test func `groups and bindings run inside a task, and tasks inside them`() async throws {
        let sum = Task {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...10 {
                    group.addTask { try await Task { number }.value }
                }
                return try await group.reduce(0, +)
            }
        }
        let product = Task {
            async let six = Task { 6 }.value
            async let seven = twice(3)
            return try await six * (await seven + 1)
        }
        #expect(try await sum.value == 55)
        #expect(try await product.value == 42)
    }

    @Test func `continuations resume a task`() async throws {
        let task = Task {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: 7) }
            }
        }
        #expect(try await task.value == 7)
        #expect(try await Task { withUnsafeCurrentTask { $0 != nil } }.value)
    }

    @Test func `tasks can be kept in a set, and copies are the same`() async throws {
        var running: Set<Task<Int>> = []
        let (first, second) = (Task { 1 }, Task { 1 })
        running.insert(first)
        running.insert(second)
        let copy = first
        running.insert(copy)
        #expect(running.count == 2)
        #expect(first == copy && first != second)
        running.remove(copy)
        #expect(running == [second])
    }

    // MARK: - What takes another spelling

    @Test func `Swift's own tasks are a module or an alias away`() async throws {
        let spelled: _Concurrency.Task<Int, Never> = _Concurrency.Task { 1 }
        #expect(await spelled.value == 1)
        let aliased: SwiftTask<Void, any Error> = SwiftTask { try await SwiftTask<Never, Never>.sleep(for: .zero) }
        try await aliased.value
        let stored: [SwiftTask<Int, Never>] = [spelled]
        #expect(stored.contains(spelled))
    }

    @Test func `a Swift task waits for one of the library's, and the other way round`() async throws {
        let ours = Task { 1 }
        let swifts = SwiftTask { try await ours.value + 1 }
        #expect(try await Task { try await swifts.value + 1 }.value == 3)
    }
}

private enum Failure: Error { case custom }

private enum Locals {
    @TaskLocal static var number = 0
}

private func twice(_ number: Int) async -> Int {
    await Task.yield()
    return number * 2
}

private func failing() async throws -> Int { throw Failure.custom }

private func isCancelledAtLast() async -> Bool {
    while !Task.isCancelled { await Task.yield() }
    return true
}

@MainActor
private final class Model {
    var items: [Int] = []
    private(set) var loading: Task<Void>?

    func load() {
        loading?.cancel()
        loading = Task {
            items.append(1)
            items.append(await twice(1))
            try await Task.sleep(for: .zero)
            append(await twice(2))
        }
    }

    func watch() {
        loading = Task { [weak self] in
            while true {
                try await Task.sleep(for: .nanoseconds(1))
                self?.items.removeAll()
            }
        }
    }

    deinit { loading?.cancel() }

    private func append(_ item: Int) { items.append(item) }
}

private actor Account {
    private(set) var deposits: [Int] = []

    func deposit(_ amounts: ClosedRange<Int>) -> Task<Void> {
        for amount in amounts { Task { deposits.append(amount) } }
        return Task { assertIsolated() }
    }

    func depositLater(_ amount: Int) -> Task<Int> {
        Task {
            deposits.append(await twice(amount) - amount)
            return deposits.last ?? 0
        }
    }
}

private final class Box {
    private var count = 0

    func increment() -> Int {
        count += 1
        return count
    }
}
