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

/// Tells an object of the end of a future.
///
/// SAFETY: `object` belongs to the winner of `membership`.
@usableFromInline
final class EndNotice: FutureNode, @unchecked Sendable {
    @usableFromInline typealias Tell = @Sendable (_ object: AnyObject, _ future: FutureNode) -> Void

    @exclusivity(unchecked)
    private var object: AnyObject?
    private let tell: Tell

    @usableFromInline
    init(_ membership: consuming Membership, _ object: AnyObject, _ tell: @escaping Tell) {
        self.object = object
        self.tell = tell
        super.init(membership)
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        if membership.take() { tell(object.take().unsafelyUnwrapped, upstream) }
        return .done
    }

    @usableFromInline
    override func dismiss() {
        object = nil
    }
}

extension FutureStorage {
    /// Has `object` told of the end; `nil` if that has come.
    ///
    /// - Parameter tell: Called with the object and this future. Costs nothing if it captures nothing.
    @inlinable
    package final func notify(
        _ object: any AnyObject & Sendable,
        _ tell: @escaping @Sendable (_ object: AnyObject, _ future: FutureNode) -> Void
    ) -> Registration? {
        guard !word.isFilled else { return nil }
        let notice = EndNotice(.waiting(for: self), object, tell)
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
