#if canImport(Combine)
public import Combine
internal import DeferredCore

extension Task {
    /// The task as a publisher of Combine's, which publishes the value and finishes, or fails.
    ///
    /// ```swift
    /// subscription = session.beginDataTask(with: url).publisher
    ///     .receive(on: DispatchQueue.main)
    ///     .sink(receiveCompletion: { _ in }, receiveValue: { data, _ in show(data) })
    /// ```
    ///
    /// It is cold: a handler is added to the task, which runs anyway, when a subscriber asks for a value. Cancelling a
    /// subscription before the end cancels the task, for all who wait for it; where there are several, give each of them
    /// ``shared()``. The value comes on the thread that ends the task, or at once.
    public var publisher: AnyPublisher<Success, any Error> {
        FuturePublisher(self, result: { $0 }, onCancel: { cancel() }).eraseToAnyPublisher()
    }
}
#endif
