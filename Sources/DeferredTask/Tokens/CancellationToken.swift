public import DeferredCore

/// Tells an operation that it should stop. Created by a ``CancellationTokenSource``.
///
/// A token is a reference of one word; pass it by value. All members are safe to use from any thread.
@frozen
public struct CancellationToken: Sendable {
    @usableFromInline
    package enum Ending: Sendable {
        case cancelled
        /// The source was released; nobody can cancel any more.
        case abandoned
    }

    /// `nil` for the token that is never cancelled.
    @usableFromInline let state: FutureStorage<Ending>?

    @inlinable
    package init(_ state: FutureStorage<Ending>?) {
        self.state = state
    }

    /// A token that is never cancelled, and costs nothing.
    public static let none = CancellationToken(nil)

    /// A Boolean value that indicates whether the source was cancelled.
    ///
    /// Runs no other code, and so may be read where a lock is held.
    ///
    /// - Complexity: O(1): one load.
    @inlinable
    public var isCancelled: Bool { state?.peek() == .cancelled }

    /// Throws if the source was cancelled.
    ///
    /// - Throws: `CancellationError`.
    public func checkCancellation() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// Calls `handler` when the source is cancelled: once, on the thread that cancels, newest first; or now, if it
    /// already was.
    ///
    /// - Parameter handler: Kept until it is called or taken back, or the source is released.
    /// - Returns: A registration that takes the handler back. Do so when the operation ends, so that a long-lived
    ///   source does not accumulate the handlers of operations that ended long ago.
    /// - Complexity: O(1); taking back is amortised O(1). Takes no lock.
    @inlinable
    @discardableResult
    public func register(_ handler: @escaping @Sendable () -> Void) -> Registration {
        guard let state else { return Registration(nil) }
        let observer = state.makeObserver(handler)
        if state.add(observer) { return Registration(observer) }
        if isCancelled { observer.call() }
        return Registration(nil)
    }
}

extension Task {
    /// Lets `token` cancel this task, too, until the task ends, and returns it.
    ///
    /// Whoever holds the source can cancel, also when nobody holds the task: until the task ends or is cancelled, or the
    /// source is released, the token keeps what it has to cancel, such as the cancellation handlers. It keeps neither the
    /// task's value nor a ``Promise``: a lost one still fails its task. A task whose future is lost otherwise never ends, and
    /// is no longer kept.
    public func cancelled(by token: CancellationToken) -> Task {
        handle?.cancel(when: token)
        return self
    }
}
