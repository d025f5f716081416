#if canImport(Combine)
import Combine
import DeferredCore
import TestSupport
import Testing

private typealias Deferred = DeferredCore.Deferred
private typealias Future = DeferredCore.Future

@Suite("Future's publisher", .ownThread, .timeLimit(.minutes(1)))
struct FuturePublisherTests {
    @Test func `it publishes the value once and finishes`() {
        let deferred = Deferred<Int>()
        let log = Log<String>()
        let subscription = deferred.future.publisher.sink(
            receiveCompletion: { log.add("\($0)") },
            receiveValue: { log.add("\($0)") }
        )
        #expect(log.entries.isEmpty)
        deferred.fill(with: 1)
        #expect(log.entries == ["1", "finished"])
        withExtendedLifetime(subscription) {}
    }

    @Test func `a filled future publishes at once`() {
        let log = Log<Int>()
        let subscription = Future(value: 2).publisher.sink { log.add($0) }
        #expect(log.entries == [2])
        withExtendedLifetime(subscription) {}
    }

    @Test func `a cancelled subscription receives nothing and keeps nothing`() {
        final class Captured: Sendable {}
        let deferred = Deferred<Int>()
        let log = Log<Int>()
        weak var captured: Captured?
        var subscription: AnyCancellable?
        do {
            let object = Captured()
            captured = object
            subscription = deferred.future.publisher.sink { value in
                withExtendedLifetime(object) { log.add(value) }
            }
        }
        subscription?.cancel()
        subscription = nil
        #expect(captured == nil)
        deferred.fill(with: 3)
        #expect(log.entries.isEmpty)
    }

    @Test func `nothing is registered before a value is asked for`() {
        final class Captured: Sendable {}
        let deferred = Deferred<Int>()
        let subscriber = PatientSubscriber()
        deferred.future.publisher.subscribe(subscriber)
        deferred.fill(with: 4)
        #expect(subscriber.log.entries.isEmpty)
        subscriber.ask(for: .none)
        #expect(subscriber.log.entries.isEmpty)
        subscriber.ask(for: .max(1))
        subscriber.ask(for: .max(1))
        #expect(subscriber.log.entries == ["4", "finished"])
    }
}

/// Requests values only when it is told to.
private final class PatientSubscriber: Subscriber {
    typealias Input = Int
    typealias Failure = Never

    let log = Log<String>()
    private var subscription: (any Subscription)?

    func ask(for demand: Subscribers.Demand) { subscription?.request(demand) }

    func receive(subscription: any Subscription) { self.subscription = subscription }

    func receive(_ input: Int) -> Subscribers.Demand {
        log.add("\(input)")
        return .none
    }

    func receive(completion: Subscribers.Completion<Never>) { log.add("\(completion)") }
}
#endif
