/// How a node delivers the value of the future it waited for; see `FutureNode.run`.
@usableFromInline
typealias Delivery =
    @Sendable (
        _ node: FutureNode, _ upstream: FutureNode, _ drain: inout Drain
    ) -> FutureNode.Delivered

/// A node that is no future, and delivers by a function made where its type parameters are known.
///
/// The methods of a generic class that are called by way of the class are never specialised: they look up metadata and
/// copy values through witnesses. A closure that captures nothing is, and costs no allocation.
///
/// SAFETY: what it adds to `FutureNode` never changes.
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
