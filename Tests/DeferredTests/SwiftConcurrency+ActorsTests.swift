import Deferred
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SwiftConcurrencyActorsTests {
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
        let count = 20_000
        for item in 0..<count { Task { model.items.append(item) } }
        try await Task { #expect(model.items == Array(0..<count)) }.value
    }

    @Test func `tasks that an actor makes begin in the order in which they were made`() async throws {
        let account = Account()
        try await account.deposit(1...20_000).value
        #expect(await account.deposits == Array(1...20_000))
    }

    @Test func `a task takes the actor of its closure, and a detached one that it names`() async throws {
        try await Task { @MainActor in MainActor.assertIsolated() }.value
        try await Task.detached { @MainActor in MainActor.assertIsolated() }.value
        let account = Account()
        #expect(try await account.depositLater(5).value == 5)
    }

    @MainActor
    @Test func `a detached task does not take the actor that makes it`() async throws {
        // Not the main thread: a program may end it, and another thread then serves the main queue.
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        defer { DispatchQueue.main.setSpecific(key: mark, value: nil) }
        #expect(try await Task { DispatchQueue.getSpecific(key: mark) }.value == true)
        #expect(try await Task.detached { DispatchQueue.getSpecific(key: mark) }.value == nil)
    }

    @Test func `values that are transferred to a task need not be Sendable`() async throws {
        let box = Box()
        #expect(try await Task { box.increment() }.value == 1)
    }

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

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `a task has the name it is given`() async throws {
        #expect(try await Task(name: "one") { Task.name }.value == "one")
        #expect(try await Task.detached(name: "other", priority: .high) { Task.name }.value == "other")
        #expect(try await Task { Task.name }.value == nil)
    }
}
