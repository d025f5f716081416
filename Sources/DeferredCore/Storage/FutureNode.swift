/// A waiting handler: one place in the list of a future.
///
/// Futures made by operators are nodes themselves, so that a `map` costs a single allocation. The list holds one
/// reference to each of its nodes.
///
/// SAFETY: `next` and `previous` belong to whoever owns the list at the time (the pusher before its compare-and-swap, the
/// holder of the `removing` bit, the taker afterwards); everything else shared is atomic. Subclasses hand what they
/// capture to the winner of `membership`.
@usableFromInline
package class FutureNode: @unchecked Sendable {
    /// The next older node.
    @exclusivity(unchecked)
    @usableFromInline final var next: Unmanaged<FutureNode>?
    /// The next newer node, once somebody removed from the list; see `List.unlinkInner`.
    @exclusivity(unchecked)
    @usableFromInline final var previous: Unmanaged<FutureNode>?
    @usableFromInline final let membership: Membership

    @inlinable
    init(_ membership: consuming Membership) {
        self.membership = membership
    }

    /// Delivers the value of `upstream`, which is filled.
    ///
    /// - Parameter isSole: Whether nobody but the caller has a reference to this node.
    /// - Returns: Whether the caller's reference was passed on; otherwise it is the caller's to release.
    @usableFromInline
    func run(_ upstream: FutureNode, isSole: Bool, _ drain: inout Drain) -> Bool {
        preconditionFailure("\(type(of: self)) takes no value")
    }

    /// Lets go of all that the handler captured. Called at most once, and never together with `run`.
    @usableFromInline
    func dismiss() {}

    /// In its role as a future: ends at once, if it is an operator's result whose closure has not begun.
    @usableFromInline
    package func abandon() {}

    /// In its role as a future: the object that somebody attached to an operator's result.
    @usableFromInline
    package var attached: AnyObject? { nil }

    /// The object attached to an operator's result, made now if there is none; see `Attachment`.
    @usableFromInline
    package func attach(_ make: (_ isEnded: Bool) -> AnyObject) -> AnyObject {
        preconditionFailure("\(type(of: self)) takes no attachment")
    }

    /// In its role as a future: whether it is filled.
    @usableFromInline
    package var isFinished: Bool { false }

    /// In its role as a future: whether it is filled with the failure of a `Result`. Takes a dynamic cast.
    package var hasFailed: Bool { false }

    /// Forgets the handler, and its captures at once, unless it was taken before.
    @usableFromInline
    final func cancel() {
        guard let owner = membership.beginRemoval() else { return }
        let wasListed = owner.map { $0._withUnsafeGuaranteedRef { $0.unlist(Unmanaged.passUnretained(self)) } } ?? false
        membership.endRemoval()
        // From here on nothing is held, for what is released may run any code.
        dismiss()
        if wasListed { Unmanaged.passUnretained(self).release() }
    }

    /// Whether `cancel` came in time.
    final var isCancelled: Bool { membership.isCancelled }

    /// Takes `node` out of the list of this future; false when the list was taken.
    @usableFromInline
    func unlist(_ node: Unmanaged<FutureNode>) -> Bool { false }
}

extension Unmanaged<FutureNode> {
    /// Whether the node can never be taken back, and the caller's is the only reference to it.
    @inlinable
    var isPermanentAndSole: Bool {
        guard _withUnsafeGuaranteedRef({ $0.membership.isPermanent }) else { return false }
        var reference = self
        return withUnsafeMutablePointer(to: &reference) {
            // The same bits seen as a strong reference, without the retain that would falsify the answer.
            $0.withMemoryRebound(to: FutureNode.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}
