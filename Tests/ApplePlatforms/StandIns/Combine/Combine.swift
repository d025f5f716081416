// Publishers and subscribers: enough to run the package's publishers.

public protocol Cancellable { func cancel() }
public protocol CustomCombineIdentifierConvertible {}
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    func request(_ demand: Subscribers.Demand)
}
public enum Subscribers {
    public struct Demand: Equatable, Comparable, Hashable, Sendable {
        public static let none = Demand.max(0), unlimited = Demand.max(.max)
        let count: Int
        public static func max(_ value: Int) -> Demand { Demand(count: value) }
        public static func < (a: Demand, b: Demand) -> Bool { a.count < b.count }
    }
    public enum Completion<Failure: Error> { case finished, failure(Failure) }
}
extension Subscribers.Completion: Sendable {}
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}
public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}
extension Publisher {
    public func subscribe<S: Subscriber>(_ subscriber: S) where S.Input == Output, S.Failure == Failure {
        receive(subscriber: subscriber)
    }
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
    public func sink(
        receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
        receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
        let sink = Sink<Output, Failure>(receiveCompletion, receiveValue)
        receive(subscriber: sink)
        return AnyCancellable { sink.subscription?.cancel() }
    }
}
extension Publisher where Failure == Never {
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
        sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
    }
}
private final class Sink<Input, Failure: Error>: Subscriber {
    let end: (Subscribers.Completion<Failure>) -> Void
    let body: (Input) -> Void
    var subscription: (any Subscription)?
    init(_ end: @escaping (Subscribers.Completion<Failure>) -> Void, _ body: @escaping (Input) -> Void) {
        self.end = end
        self.body = body
    }
    func receive(subscription: any Subscription) {
        self.subscription = subscription
        subscription.request(.unlimited)
    }
    func receive(_ input: Input) -> Subscribers.Demand {
        body(input)
        return .none
    }
    func receive(completion: Subscribers.Completion<Failure>) { end(completion) }
}
public struct AnyPublisher<Output, Failure: Error>: Publisher {
    let attach: (AnySubscriber<Output, Failure>) -> Void
    public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {
        attach = { publisher.receive(subscriber: $0) }
    }
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        attach(AnySubscriber(subscriber))
    }
}
public struct AnySubscriber<Input, Failure: Error>: Subscriber {
    let inner: any Subscriber<Input, Failure>
    public init<S: Subscriber>(_ s: S) where S.Input == Input, S.Failure == Failure { inner = s }
    public func receive(subscription: any Subscription) { inner.receive(subscription: subscription) }
    public func receive(_ input: Input) -> Subscribers.Demand { inner.receive(input) }
    public func receive(completion: Subscribers.Completion<Failure>) { inner.receive(completion: completion) }
}
final public class AnyCancellable: Cancellable, Hashable {
    let body: () -> Void
    public init(_ cancel: @escaping () -> Void) { body = cancel }
    public func cancel() { body() }
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }
    public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool { a === b }
    public func hash(into h: inout Hasher) { h.combine(ObjectIdentifier(self)) }
    deinit { body() }
}
final public class Future<Output, Failure: Error>: Publisher {
    public init() {}
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {}
}
public struct Deferred<DeferredPublisher: Publisher>: Publisher {
    public typealias Output = DeferredPublisher.Output
    public typealias Failure = DeferredPublisher.Failure
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {}
}
