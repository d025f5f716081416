#if canImport(Combine)
import Combine
import DeferredCore
import DeferredTask
import TestSupport
import Testing

@Suite("Task's publisher", .ownThread, .timeLimit(.minutes(1)))
struct TaskPublisherTests {
    private struct Failure: Error {}

    @Test func `it publishes the value and finishes`() {
        let promise = Task<Int>.Promise()
        let log = Log<String>()
        let subscription = Task(promise).publisher.sink(
            receiveCompletion: { log.add("\($0)") },
            receiveValue: { log.add("\($0)") }
        )
        promise.succeed(with: 1)
        #expect(log.entries == ["1", "finished"])
        withExtendedLifetime(subscription) {}
    }

    @Test func `it fails as the task does`() {
        let log = Log<String>()
        let subscription = Task<Int>.failure(Failure()).publisher.sink(
            receiveCompletion: { log.add("\($0)") },
            receiveValue: { log.add("\($0)") }
        )
        #expect(log.entries.count == 1 && log.entries[0].hasPrefix("failure("))
        withExtendedLifetime(subscription) {}
    }

    @Test func `cancelling a subscription cancels the task, and dropping it does, too`() {
        for isDropped in [false, true] {
            let promise = Task<Int>.Promise()
            let task = Task(promise)
            var subscription: AnyCancellable? = task.publisher.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            #expect(!task.isCancelled)
            if !isDropped { subscription?.cancel() }
            subscription = nil
            #expect(task.isCancelled)
        }
    }

    @Test func `cancelling behind the end does nothing`() {
        let promise = Task<Int>.Promise()
        let cancelled = Log<Int>()
        let task = Task(promise, uponCancel: { _ in cancelled.add(1) })
        let subscription = task.publisher.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        promise.succeed(with: 1)
        subscription.cancel()
        #expect(cancelled.entries.isEmpty && !task.isCancelled)
    }
}
#endif
