/// A closure that waits for a future, ignores its value, and runs inline.
///
/// It is leaner than a `Handler`, since it isn't generic.
///
/// SAFETY: `body` belongs to the winner of `membership`.
@_fixed_layout
@usableFromInline
package class ObserverNode: HandlerNode, @unchecked Sendable {
    @exclusivity(unchecked)
    @usableFromInline final var body: (@Sendable () -> Void)?

    @inlinable
    init(_ membership: consuming Membership, _ body: @escaping @Sendable () -> Void) {
        self.body = body
        super.init(membership)
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        call()
        return .done
    }

    /// Calls the closure, unless it has run or was cancelled.
    @usableFromInline
    package final func call() {
        // Not with `take()`, which is generic, and would wrap the closure in another one.
        guard membership.take(), let body else { return }
        self.body = nil
        body()
    }

    @usableFromInline
    override func dismiss() {
        body = nil
    }
}

/// A handler that notifies an attached object of the end of a future, for futures that have no attachment.
///
/// SAFETY: what it adds to a node is constant; the attachment orders its own accesses.
@_fixed_layout
@usableFromInline
package final class AttachmentObserver: HandlerNode, @unchecked Sendable {
    /// A closure that is called with the observer and the future at its end. Without captures, it costs nothing.
    @usableFromInline
    package typealias Tell = @Sendable (_ observer: AttachmentObserver, _ future: FutureNode) -> Void
    /// A closure that is called with the attached object when the future is lost.
    @usableFromInline
    package typealias Lost = @Sendable (_ attached: AnyObject) -> Void

    @usableFromInline package let attachment = Attachment()
    @usableFromInline let tell: Tell
    @usableFromInline let lost: Lost

    @inlinable
    init(_ membership: consuming Membership, _ lost: @escaping Lost, _ tell: @escaping Tell) {
        self.tell = tell
        self.lost = lost
        super.init(membership)
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        if membership.take() { tell(self, upstream) }
        return .done
    }

    @usableFromInline
    override func goUnfilled() {
        if membership.isDropped, let object = attachment.object { lost(object) }
    }
}

extension FutureStorage {
    /// Registers an observer of the end, which is called before handlers that are registered later and before the end; at
    /// once if the future has ended.
    @inlinable
    package final func observer(lost: @escaping AttachmentObserver.Lost, _ tell: @escaping AttachmentObserver.Tell)
        -> AttachmentObserver
    {
        let observer = AttachmentObserver(.waiting(for: self), lost, tell)
        if !add(observer) {
            // From here on, the observer no longer refers to the future.
            if observer.membership.take() { tell(observer, self) }
        }
        return observer
    }

    /// Creates an observer that can be added to this future.
    @inlinable
    package final func makeObserver(_ body: @escaping @Sendable () -> Void) -> ObserverNode {
        ObserverNode(.waiting(for: self), body)
    }
}
