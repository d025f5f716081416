import Deferred
import Foundation
import TestSupport
import Testing

// Uses of Swift's own tasks, in a file in which `Task` is the library's.

/// With `import Deferred`, Swift's own type has to be qualified by its module, or needs an alias.
private typealias SwiftTask = _Concurrency.Task

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SwiftConcurrencyTests {
    @Test func `a task succeeds with the value that its closure returns`() async throws {
        let task: Task<Int> = Task { 1 }
        #expect(try await task.value == 1)
        #expect(try await Task { await twice(21) }.value == 42)
        #expect(try await task.result.get() == 1)
        let nothing: Task<Void> = Task {}
        try await nothing.value
    }

    @Test func `a task fails with the error that its closure throws`() async throws {
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
