#if canImport(Combine)
public import Combine
internal import DeferredCore

extension Task {
    /// The task as a Combine publisher, which publishes the value and finishes, or fails.
    ///
    /// ```swift
    /// subscription = session.beginDataTask(with: url).publisher
    ///     .receive(on: DispatchQueue.main)
    ///     .sink(receiveCompletion: { _ in }, receiveValue: { data, _ in show(data) })
    /// ```
    ///
    /// It is cold: a handler is added to the task, which runs anyway, when a subscriber asks for a value. Cancelling a
    /// subscription before the end cancels the task, for everybody who waits for it; if there are several, give each of
    /// them ``shared()``. The value arrives on the thread that ends the task, or at once if the task has ended.
    public var publisher: AnyPublisher<Success, any Error> {
        FuturePublisher(self, result: { $0 }, onCancel: { cancel() }).eraseToAnyPublisher()
    }
}
#endif
