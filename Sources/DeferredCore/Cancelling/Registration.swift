/// Undoes one registered handler.
///
/// Every call that registers a handler returns one. Keep it when the handler may become pointless before the future is
/// filled; otherwise ignore it. Dropping a registration does nothing.
///
/// ```swift
/// let registration = answer.upon(.main) { label.show($0) }
/// registration.cancel()  // the label is released now, not when the answer comes
/// ```
///
/// A registration keeps the place of its handler in memory (some 60 bytes), but neither the future nor, once it was
/// cancelled or has run, the handler.
public struct Registration: Cancellable {
    /// `nil` for a handler that ran while it was registered.
    @usableFromInline let node: FutureNode?

    @inlinable
    package init(_ node: FutureNode?) {
        self.node = node
    }

    /// Creates a registration for handlers that something other than this library keeps.
    ///
    /// For a type of your own that is a ``FutureProtocol``, or that lets others register closures in another way.
    ///
    /// ```swift
    /// func onChange(_ handler: @escaping @Sendable () -> Void) -> Registration {
    ///     let number = handlers.add(handler)
    ///     return Registration { [handlers] in handlers.remove(number) }
    /// }
    /// ```
    ///
    /// - Parameter onCancel: Takes the handler back. Called by the first ``cancel()``, on its thread, and freed before that
    ///   returns; freed without being called if the registration and its copies go before. From that call on,
    ///   ``isCancelled`` is true, whether or not the handler had run.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.init(Undoing(onCancel))
    }

    /// Takes the handler back: it never starts afterwards, and what it captured is released at once.
    ///
    /// Does nothing when the handler has begun, has run, or was taken back before. A handler that has begun is not
    /// waited for.
    ///
    /// - Complexity: amortised constant. Takes no lock; two handlers of one future that are taken back at the same
    ///   moment wait for each other for a few instructions.
    public func cancel() {
        node?.cancel()
    }

    /// Whether the handler may still be run or taken back.
    package var isPending: Bool { node?.membership.isPending ?? false }

    /// Whether the handler was taken back in time: it has not run and never will.
    public var isCancelled: Bool {
        node?.isCancelled ?? false
    }
}

/// A closure that runs when it is taken back.
///
/// SAFETY: `body` belongs to the winner of `membership`.
private final class Undoing: FutureNode, @unchecked Sendable {
    private var body: (@Sendable () -> Void)?

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
        super.init(.submitted())
    }

    override func dismiss() {
        body.take()?()
    }
}
