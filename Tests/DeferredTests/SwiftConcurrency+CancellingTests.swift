import Deferred
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SwiftConcurrencyCancellingTests {
    @Test func `cancelling is visible in the closure`() async throws {
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
}
