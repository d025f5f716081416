public import DeferredCore

/// Tells an operation that it is to stop. Comes from a ``CancellationTokenSource``.
///
/// A token is a reference of one word; pass it by value. All members are safe to use from any thread.
public struct CancellationToken: Sendable {
    @usableFromInline
    package enum Ending: Sendable {
        case cancelled
        /// The source has gone; nobody can cancel any more.
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

    /// Whether the source was cancelled.
    ///
    /// - Complexity: O(1): one load.
    @inlinable
    public var isCancelled: Bool { state?.look() == .cancelled }

    /// Throws if the source was cancelled.
    ///
    /// - Throws: `CancellationError`.
    public func checkCancellation() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// Calls `handler` when the source is cancelled: once, on the thread that cancels, newest first; or now, if it was.
    ///
    /// - Parameter handler: Kept until it was called, is taken back, or the source goes.
    /// - Returns: What takes the handler back. Do so when the operation ends, so that a source of long life does not gather
    ///   the handlers of operations that are long over.
    /// - Complexity: O(1), and taking back amortised so. Takes no lock.
    @inlinable
    @discardableResult
    public func register(_ handler: @escaping @Sendable () -> Void) -> Registration {
        guard let state else { return Registration(nil) }
        let notice = state.makeNotice(handler)
        if state.add(notice) { return Registration(notice) }
        if isCancelled { notice.call() }
        return Registration(nil)
    }
}

extension Task {
    /// This task, which `token` cancels too, until it ends.
    ///
    /// Nothing stays registered with the token after the end, or when the task is dropped.
    public func cancelled(by token: CancellationToken) -> Task {
        control?.cancel(when: token)
        return self
    }
}
