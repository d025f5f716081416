#if canImport(Combine)
public import Combine

extension Future {
    /// A Combine publisher that publishes the value and finishes.
    ///
    /// ```swift
    /// subscription = name.publisher.sink { print("Hello, \($0)") }
    /// ```
    ///
    /// The publisher is cold: a handler is registered with the future when a subscriber requests a value, and cancelled
    /// with the subscription. The value is delivered on the thread that fills the future, or at once if it is already
    /// filled; use Combine's `receive` operator to change that.
    public var publisher: AnyPublisher<Value, Never> {
        FuturePublisher(self, result: { .success($0) }).eraseToAnyPublisher()
    }
}

/// A publisher of a future's value, or of a result made from it.
package struct FuturePublisher<Source: FutureProtocol, Output, Failure: Error>: Publisher {
    fileprivate let source: Source
    fileprivate let result: @Sendable (Source.Value) -> Result<Output, Failure>
    fileprivate let onCancel: @Sendable () -> Void

    /// - Parameter onCancel: Called for each subscription that is cancelled before it has ended.
    package init(
        _ source: Source,
        result: @escaping @Sendable (Source.Value) -> Result<Output, Failure>,
        onCancel: @escaping @Sendable () -> Void = {}
    ) {
        self.source = source
        self.result = result
        self.onCancel = onCancel
    }

    package func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        let subscription = FutureSubscription(self) { result in
            switch result {
            case .success(let output):
                _ = subscriber.receive(output)
                subscriber.receive(completion: .finished)
            case .failure(let error):
                subscriber.receive(completion: .failure(error))
            }
        }
        subscriber.receive(subscription: subscription)
    }
}

/// A subscription of one subscriber to a future.
// SAFETY: the lock guards `state`. `receive` belongs to the thread that ends the subscription.
private final class FutureSubscription<Source: FutureProtocol, Output, Failure: Error>: Subscription,
    @unchecked Sendable
{
    private enum State {
        case new
        case waiting(Registration?)
        case over
    }

    private let publisher: FuturePublisher<Source, Output, Failure>
    private let state = Lock(State.new)

    /// Delivers the result. Retains the subscriber, so it is released at the end.
    private var receive: ((Result<Output, Failure>) -> Void)?

    init(
        _ publisher: FuturePublisher<Source, Output, Failure>,
        _ receive: @escaping (Result<Output, Failure>) -> Void
    ) {
        self.publisher = publisher
        self.receive = receive
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let isFirst = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(nil)
            return true
        }
        guard isFirst else { return }
        let registration = publisher.source.upon(.immediate) { self.deliver($0) }
        let isOver = state.withLock { state in
            guard case .waiting = state else { return true }
            state = .waiting(registration)
            return false
        }
        if isOver { registration.cancel() }
    }

    func cancel() {
        switch end() {
        case .over: return
        case .new: break
        case .waiting(let registration): registration?.cancel()
        }
        receive = nil
        publisher.onCancel()
    }

    private func deliver(_ value: Source.Value) {
        guard case .waiting = end() else { return }
        let receive = receive.take()
        receive?(publisher.result(value))
    }

    /// Ends the subscription, and returns the previous state: `over` for all callers but the first.
    private func end() -> State {
        state.withLock { state in
            defer { state = .over }
            return state
        }
    }
}
#endif
