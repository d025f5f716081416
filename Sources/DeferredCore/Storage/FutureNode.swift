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

    /// The outcome of `run`.
    @usableFromInline
    enum Delivered {
        /// The node has done its part.
        case done
        /// The node was filled, and is in the drain with the caller's reference to it.
        case queued
        /// The node now has to wait for this future.
        case waits(FutureNode)
    }

    /// Delivers the value of `upstream`, which is filled.
    @usableFromInline
    func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        preconditionFailure("\(type(of: self)) takes no value")
    }

    /// Lets go of all that the handler captured. Called at most once, and never together with `run`.
    @usableFromInline
    func dismiss() {}

    /// Notes that the future it waited for goes unfilled.
    ///
    /// - Parameter isDismissing: Whether the caller has taken the handler.
    @usableFromInline
    func goUnfilled(isDismissing: Bool) {
        if isDismissing { dismiss() }
    }

    /// In its role as a future: ends at once, if it is an operator's result whose closure has not begun.
    @usableFromInline
    func abandon() {}

    /// In its role as a future: whether a handler waits for it.
    @usableFromInline
    package var hasWaiting: Bool { false }

    /// In its role as a future: whether it is filled.
    @usableFromInline
    package var isFinished: Bool { false }

    /// Forgets the handler, and its captures at once, unless it was taken before.
    @usableFromInline
    final func cancel() {
        guard let wasListed = takeBack() else { return }
        // From here on nothing is held, for what is released may run any code.
        dismiss()
        if wasListed { Unmanaged.passUnretained(self).release() }
    }

    /// Wins the handler for dismissing it; `nil` if it is too late. Inside: whether the list's reference is the caller's now.
    @usableFromInline
    final func takeBack() -> Bool? {
        guard let owner = membership.beginRemoval() else { return nil }
        let wasListed = owner.map { $0._withUnsafeGuaranteedRef { $0.unlist(Unmanaged.passUnretained(self)) } } ?? false
        membership.endRemoval()
        return wasListed
    }

    /// Whether `cancel` came in time.
    final var isCancelled: Bool { membership.isCancelled }

    /// In its role as a future: adds handlers that are linked from `newest` to `oldest`, with the caller's references; false
    /// if it is filled.
    @usableFromInline
    func enlist(_ newest: Unmanaged<FutureNode>, from oldest: Unmanaged<FutureNode>) -> Bool {
        preconditionFailure("\(type(of: self)) has no handlers")
    }

    /// In its role as a future: takes `node` out of the list; false when the list was taken.
    @usableFromInline
    func unlist(_ node: Unmanaged<FutureNode>) -> Bool { false }

    /// In its role as a future that nobody but the caller can reach: gives away those that wait for it, oldest first,
    /// unless one of them can be taken back.
    @usableFromInline
    func takeHandlers() -> List? { nil }

    /// Whether it only waits to pass the value of another future on.
    @usableFromInline
    var isForwarding: Bool { false }
}

extension Unmanaged {
    /// Whether the caller's is the only reference to the object.
    @inlinable
    package var isSole: Bool {
        var reference = self
        return withUnsafeMutablePointer(to: &reference) {
            // The same bits seen as a strong reference, without the retain that would falsify the answer.
            $0.withMemoryRebound(to: Instance.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}
