import DeferredCore
import Dispatch
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct FutureProtocolAwaitTests {
    @Test func `value is there before and after the fill`() async throws {
        let deferred = Deferred<Int>()
        async let early = deferred.value
        async let earlyGet = deferred.get()
        deferred.fill(with: 1)
        #expect(await early == 1)
        #expect(try await earlyGet == 1)
        #expect(await deferred.value == 1)
        #expect(try await deferred.get() == 1)
    }

    @Test func `value ignores the cancellation of the awaiting task`() async {
        let deferred = Deferred<Int>()
        let started = Deferred<Void>()
        let task = Task {
            _ = started.fill()
            return await deferred.value
        }
        await started.value
        task.cancel()
        deferred.fill(with: 1)
        #expect(await task.value == 1)
    }

    @Test func `get stops waiting when the awaiting task is cancelled, and leaves nothing`() async {
        let deferred = Deferred<Int>()
        let task = Task { try await deferred.get() }
        await Task.yield()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!deferred.storage.hasHandlers)
    }

    @Test func `get in a cancelled task returns an existing value, and otherwise throws`() async {
        let filled = Deferred(filledWith: 1)
        let unfilled = Deferred<Int>()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return (try? await filled.get(), try? await unfilled.get())
        }
        let values = await task.value
        #expect(values == (1, nil))
        #expect(!unfilled.storage.hasHandlers)
    }

    @Test func `awaiting keeps the future alive`() async {
        let log = Log<Int>()
        let deferred = Deferred<Int>()
        let mapped = Task { await deferred.map { $0 + 1 }.map { $0 + 1 }.value }
        await Task.yield()
        deferred.fill(with: 1)
        log.add(await mapped.value)
        #expect(log.entries == [3])
    }

    #if os(macOS) || os(Linux)
    @Test func `300,000 gets cancelled against one unfilled future keep memory flat`() async {
        await #expect(processExitsWith: .success) {
            let deferred = Deferred<Int>()
            func rounds(_ count: Int) async {
                for _ in 0..<count / 100 {
                    await withTaskGroup { group in
                        for _ in 0..<100 { group.addTask { _ = try? await deferred.get() } }
                        group.cancelAll()
                    }
                }
            }
            await rounds(20_000)
            let before = residentMemory()
            await rounds(isSanitized ? 100_000 : 300_000)
            let growth = residentMemory() - before
            // A sanitizer keeps a history, which can be of any size.
            precondition(growth < 6 << 20 || isSanitized, "\(growth) bytes more than before")
            precondition(!deferred.storage.hasHandlers)
        }
    }
    #endif

    @Test func `get of a type of one's own leaves no handler when it is cancelled`() async {
        let future = CustomFuture<Int>()
        let task = Task { try await future.get() }
        await Task.yield()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!future.base.storage.hasHandlers)
    }

    @Test func `get of a future that is lost ends when the awaiting task is cancelled`() async {
        let input = Lock<Deferred<Int>?>(Deferred())
        input.withLock { $0?.storage.origin = nil }
        let lost = input.withLock { $0 }.map { $0.map { $0 } } ?? .never
        let task = Task { try await lost.get() }
        while !lost.storage.hasHandlers { await Task.yield() }
        input.withLock { $0 = nil }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    #if DEBUG
    /// SAFETY: its property is immutable.
    private final class CountingAwaiter: Awaiter, @unchecked Sendable {
        let resumed = Log<Int>()

        override func resume() { resumed.add(1) }
    }

    @Test(.enabled(if: !isThreadSanitized))
    func `every interleaving of suspending, filling and cancelling resumes once`() async {
        let explorer = Explorer(actors: 3)
        explorer.explore {
            let future = FutureStorage<Int>()
            let awaiter = CountingAwaiter(.waiting(for: future))
            return Explorer.Run(
                actors: [
                    { awaiter.suspend(unsafeBitCast(1, to: UnsafeContinuation<Void, Never>.self), waitingFor: future) },
                    { _ = future.fill(with: 1) },
                    { awaiter.stopWaiting() },
                ],
                end: { awaiter.resumed.entries.count == 1 ? nil : "resumed \(awaiter.resumed.entries.count) times" }
            )
        }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings > 20)
    }
    #endif

    @Test func `gets race with fills and cancels`() async {
        for _ in 0..<5_000 {
            let deferred = Deferred<Int>()
            let waiting = Task { try await deferred.get() }
            let filling = Task.detached { deferred.fill(with: 1) }
            let cancelling = Task.detached { waiting.cancel() }
            if let value = try? await waiting.value { #expect(value == 1) }
            _ = await (filling.value, cancelling.value)
            #expect(!deferred.storage.hasHandlers)
        }
    }

    @Test func `wait gives the value, or nil at the deadline, and then leaves nothing`() {
        let deferred = Deferred<Int>()
        #expect(deferred.wait(until: .now()) == nil)
        #expect(!deferred.storage.hasHandlers)
        DispatchQueue.global().async { deferred.fill(with: 1) }
        #expect(deferred.wait() == 1)
        #expect(deferred.wait(until: .now()) == 1)
    }
}
