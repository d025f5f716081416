/// A function that delivers the value of a future to a node that waited for it; see `FutureNode.run`.
@usableFromInline
typealias Delivery =
    @Sendable (
        _ node: FutureNode, _ upstream: FutureNode, _ drain: inout Drain
    ) -> FutureNode.Delivered

/// A node that is not a future, and delivers the value with a function that is created where the type parameters are
/// known.
///
/// Methods of a generic class that are dispatched dynamically are never specialised: they look up metadata and copy
/// values through witnesses. A closure without captures is specialised, and costs no allocation.
///
/// SAFETY: the property it adds to `FutureNode` never changes.
@usableFromInline
class Receiver: FutureNode, @unchecked Sendable {
    @usableFromInline final let deliver: Delivery

    @inlinable
    init(_ membership: consuming Membership, _ deliver: @escaping Delivery) {
        self.deliver = deliver
        super.init(membership)
    }

    @usableFromInline
    final override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        deliver(self, upstream, &drain)
    }
}
