import Deferred
import NIOCore

extension EventLoopFuture where Value: Sendable {
    /// The future as a task. Cancelling the task ends it at once; the future, which can't be cancelled, goes on.
    var task: Task<Value> {
        let promise = Task<Value>.Promise()
        whenComplete { promise.fill(with: $0) }
        return Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
    }
}

extension Task {
    /// Returns the task as a future of an event loop.
    ///
    /// - Parameter end: A future whose completion cancels the task: that of a channel that is closed, such as
    ///   `context.channel.closeFuture`. It keeps the task until then, so it is for a few tasks a channel.
    func future(on loop: any EventLoop, until end: EventLoopFuture<Void>? = nil) -> EventLoopFuture<Success> {
        let promise = loop.makePromise(of: Success.self)
        upon(.immediate) { promise.completeWith($0) }
        end?.whenComplete { _ in cancel() }
        return promise.futureResult
    }
}
