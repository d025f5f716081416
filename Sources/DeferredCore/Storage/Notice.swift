/// A closure that waits for a future, whatever its value is, and runs inline.
///
/// Leaner than a `Handler`, since nothing of it is generic.
///
/// SAFETY: `body` belongs to the winner of `membership`.
@usableFromInline
package class Notice: FutureNode, @unchecked Sendable {
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

    /// Runs the closure, unless it has run or was taken back.
    @usableFromInline
    package final func call() {
        if membership.take() { body.take().unsafelyUnwrapped() }
    }

    @usableFromInline
    override func dismiss() {
        body = nil
    }
}

extension FutureStorage {
    /// Registers a closure that needs no value; `nil` if the future is filled already.
    @inlinable
    package final func notify(_ body: @escaping @Sendable () -> Void) -> Registration? {
        guard !word.isFilled else { return nil }
        let notice = makeNotice(body)
        return add(notice) ? Registration(notice) : nil
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
