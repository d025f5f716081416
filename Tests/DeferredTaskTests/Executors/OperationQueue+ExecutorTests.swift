import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct OperationQueueExecutorTests {
    @Test func `closures run as operations of the queue`() async throws {
        let queue = OperationQueue()
        let current = Task.success(1).map(on: queue) { _ in OperationQueue.current.map(ObjectIdentifier.init) }
        #expect(try await current.value == ObjectIdentifier(queue))
    }

    @Test func `a serial queue keeps the order of submission`() async throws {
        let (queue, log) = (OperationQueue(), Log<Int>())
        queue.maxConcurrentOperationCount = 1
        let answer = Deferred<Int>()
        for index in 0..<1_000 { answer.upon(queue) { _ in log.add(index) } }
        let last = answer.map(on: queue) { $0 }
        answer.fill(with: 1)
        #expect(try await last.get() == 1)
        #expect(log.entries == Array(0..<1_000))
    }

    @Test func `a suspended queue holds closures, and those of cancelled tasks never run`() async throws {
        let (queue, log) = (OperationQueue(), Log<String>())
        queue.isSuspended = true
        let answer = Deferred<Task<Int>.Result>()
        let kept = Task(answer).map(on: queue) { $0 + 1 }
        let cancelled = Task(answer).map(on: queue) { _ in log.add("cancelled") }
        answer.succeed(with: 1)
        #expect(queue.operationCount == 2)
        cancelled.cancel()
        #expect(kept.peek() == nil)
        queue.isSuspended = false
        #expect(try await kept.value == 2)
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await eventually { queue.operationCount == 0 }
        #expect(log.entries.isEmpty)
    }

    @Test func `operations that the queue discards release their captures`() async throws {
        let (queue, lifetimes) = (OperationQueue(), Lifetimes())
        queue.isSuspended = true
        let answer = Deferred<Int>()
        answer.upon(queue) { [token = lifetimes.make()] _ in token.touch() }
        answer.fill(with: 1)
        queue.cancelAllOperations()
        queue.isSuspended = false
        try await eventually { lifetimes.count == 0 }
    }
}
