/// A closure that waits for a future, whatever its value is, and runs inline.
///
/// Leaner than a `Handler`, since nothing of it is generic.
///
/// SAFETY: `body` belongs to the winner of `membership`.
@usableFromInline
package final class Notice: FutureNode, @unchecked Sendable {
    @exclusivity(unchecked)
    private var body: (@Sendable () -> Void)?

    @usableFromInline
    init(waitingFor future: FutureNode, _ body: @escaping @Sendable () -> Void) {
        self.body = body
        super.init(.waiting(for: future))
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, isSole: Bool, _ drain: inout Drain) -> Bool {
        if membership.take() { body.take().unsafelyUnwrapped() }
        return false
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
        let notice = Notice(waitingFor: self, body)
        return add(notice) ? Registration(notice) : nil
    }

    /// Fills unless somebody did, and frees the handlers without running them.
    package final func fillDroppingHandlers(with value: consuming Value) {
        guard word.claim() else { return }
        slot.put(value)
        word.publish().drop()
    }
}
