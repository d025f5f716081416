/// An operation that can be asked to stop.
///
/// Cancelling is a request, not an outcome: the operation decides how it ends. Cancelling twice, or after the end, does
/// nothing, and cancelling is safe from any thread.
public protocol Cancellable: Sendable {
    /// Asks the operation to stop. Idempotent; returns without waiting for the end.
    func cancel()
}

/// A registered handler, which can be cancelled.
///
/// Every call that registers a handler returns a registration. Keep it if the handler may become pointless before the
/// future is filled; otherwise ignore it. Dropping a registration does nothing.
///
/// ```swift
/// let registration = answer.upon(.main) { label.show($0) }
/// registration.cancel()  // the label is released now, not when the answer comes
/// ```
///
/// A registration retains a small node (some 60 bytes) and the executor, but neither the future nor, once the handler
/// was cancelled or has run, the handler's captures.
@frozen
public struct Registration: Cancellable {
    /// `nil` for a handler that ran while it was registered.
    @usableFromInline let node: HandlerNode?

    @inlinable
    package init(_ node: HandlerNode?) {
        self.node = node
    }

    /// Creates a registration for a handler that is stored outside of this library.
    ///
    /// Use it in your own types that conform to ``FutureProtocol``, or that accept handlers in another way.
    ///
    /// ```swift
    /// func onChange(_ handler: @escaping @Sendable () -> Void) -> Registration {
    ///     let number = handlers.add(handler)
    ///     return Registration { [handlers] in handlers.remove(number) }
    /// }
    /// ```
    ///
    /// - Parameter onCancel: Removes the handler. Called by the first ``cancel()``, on its thread, and released before
    ///   that returns; released without being called if the registration and its copies are dropped first. From the
    ///   first ``cancel()`` on, ``isCancelled`` is true, whether or not the handler had run.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.init(Undoing(.submitted(), onCancel))
    }

    /// Cancels the handler: it never starts afterwards, and its captures are released at once.
    ///
    /// Does nothing if the handler has begun, has run, or was cancelled before. Does not wait for a handler that has
    /// begun.
    ///
    /// - Complexity: Amortised O(1). Takes no lock; two handlers of one future that are cancelled at the same moment
    ///   wait for each other for a few instructions.
    public func cancel() {
        node?.cancel()
    }

    /// True while the handler can still run or be cancelled.
    package var isPending: Bool { node?.membership.isPending ?? false }

    /// A Boolean value that indicates whether the handler was cancelled in time: it has not run and never will.
    public var isCancelled: Bool {
        node?.membership.isCancelled ?? false
    }
}

/// The node of a registration outside of this library: calls its closure when it is cancelled.
///
/// SAFETY: it adds no state to its class.
private final class Undoing: ObserverNode, @unchecked Sendable {
    override func dismiss() {
        let body = body
        super.dismiss()
        body?()
    }
}
