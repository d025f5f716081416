/// A closure that waits for a future, whatever its value is, and runs inline.
///
/// Leaner than a `Handler`, since nothing of it is generic.
///
/// SAFETY: `body` belongs to the winner of `membership`.
@usableFromInline
package class Notice: FutureNode, @unchecked Sendable {
    @exclusivity(unchecked)
    @usableFromInline final var body: Body?

    @inlinable
    init(_ membership: consuming Membership, _ body: @escaping @Sendable () -> Void) {
        self.body = Body(call: body)
        super.init(membership)
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        call()
        return .done
    }

    /// Runs the closure, unless it has run or was taken back.
    @usableFromInline
    package final func call() {
        if membership.take() { body.take().unsafelyUnwrapped.call() }
    }

    @usableFromInline
    override func dismiss() {
        body = nil
    }

    /// A bare closure would be wrapped in another, with an allocation, when it is taken out of the optional.
    @usableFromInline
    struct Body: Sendable {
        @usableFromInline let call: @Sendable () -> Void

        @inlinable
        init(call: @escaping @Sendable () -> Void) {
            self.call = call
        }
    }
}

/// The attachment of a future that has no room for one: a handler that tells of the end.
@usableFromInline
package final class EndNotice: FutureNode, @unchecked Sendable {
    /// Called with this and the future at its end. Costs nothing if it captures nothing.
    @usableFromInline
    package typealias Tell = @Sendable (_ notice: EndNotice, _ future: FutureNode) -> Void

    @usableFromInline package let attachment = Attachment()
    @usableFromInline let tell: Tell

    @inlinable
    init(_ membership: consuming Membership, _ tell: @escaping Tell) {
        self.tell = tell
        super.init(membership)
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        if membership.take() { tell(self, upstream) }
        return .done
    }

    /// Notes the end. Returns the object that is to be told.
    @inlinable
    package func end(hasFailed: Bool) -> AnyObject? {
        if hasFailed { attachment.fail() }
        return attachment.end()
    }
}

extension FutureStorage {
    /// What is told of the end before handlers that come later; at once if the end has come.
    @inlinable
    package final func notice(_ tell: @escaping EndNotice.Tell) -> EndNotice {
        let notice = EndNotice(.waiting(for: self), tell)
        if word.isFilled || !add(notice) {
            // From here on, it knows the future no longer.
            if notice.membership.take() { tell(notice, self) }
        }
        return notice
    }

    /// A closure that can be added to this future.
    @inlinable
    package final func makeNotice(_ body: @escaping @Sendable () -> Void) -> Notice {
        Notice(.waiting(for: self), body)
    }

    /// Fills unless somebody did, and frees the handlers without running them.
    package final func fillDroppingHandlers(with value: consuming Value) {
        guard word.claim() else { return }
        slot.put(value)
        word.publish().drop()
    }
}
