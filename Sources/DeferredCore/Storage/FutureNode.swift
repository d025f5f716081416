/// A waiting handler: a node in the list of a future.
///
/// Futures created by operators are nodes themselves, so that a `map` costs a single allocation. The list holds one
/// reference to each of its nodes.
///
/// SAFETY: `next` and `previous` belong to the current owner of the list (the pusher before its compare-and-swap, the
/// holder of the `removing` bit, the taker afterwards); all other shared state is atomic. The captures of subclasses
/// belong to the winner of `membership`.
@usableFromInline
package class FutureNode: @unchecked Sendable {
    /// The next older node.
    @exclusivity(unchecked)
    @usableFromInline final var next: Unmanaged<FutureNode>?
    /// The next newer node, set once a node has been removed from the list; see `List.unlinkInner`.
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
        /// The node is done.
        case done
        /// The node was filled, and is in the drain, which now owns the caller's reference to it.
        case queued
        /// The node now has to wait for another future.
        case waits(FutureNode)
    }

    /// Delivers the value of `upstream`, which is filled.
    @usableFromInline
    func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        preconditionFailure("\(type(of: self)) takes no value")
    }

    /// Releases the captures of a handler that is not going to run. Called at most once, by the winner of `membership`.
    @usableFromInline
    func dismiss() {}

    /// Handles the end of the future it waited for, which was dropped unfilled.
    ///
    /// - Parameter isDismissing: True if the caller has taken the handler.
    @usableFromInline
    func goUnfilled(isDismissing: Bool) {
        if isDismissing { dismiss() }
    }

    /// As a future: ends at once, if it is an operator's result whose closure has not begun.
    @usableFromInline
    func abandon() {}

    /// As a future: the words that can be read after it is gone, if it is an operator's result.
    @usableFromInline
    package var stageWords: UnownedFuture.Words? { nil }

    /// As a future: true while a handler waits for it.
    @usableFromInline
    package var hasWaiting: Bool { false }

    /// As a future: true if it is filled.
    @usableFromInline
    package var isFinished: Bool { false }

    /// Cancels the handler, and releases its captures at once, unless it was taken before.
    @usableFromInline
    final func cancel() {
        guard let wasListed = takeBack() else { return }
        // Nothing is held from here on, since releasing the captures may run any code.
        dismiss()
        if wasListed { Unmanaged.passUnretained(self).release() }
    }

    /// Wins the handler for dismissing it; `nil` if it is too late. The result is true if the caller now owns the
    /// list's reference.
    @usableFromInline
    final func takeBack() -> Bool? {
        guard let owner = membership.beginRemoval() else { return nil }
        let wasListed = owner.map { $0._withUnsafeGuaranteedRef { $0.unlist(Unmanaged.passUnretained(self)) } } ?? false
        membership.endRemoval()
        return wasListed
    }

    /// True if `cancel` came in time.
    final var isCancelled: Bool { membership.isCancelled }

    /// As a future: adds handlers that are linked from `newest` to `oldest`, with the caller's references; false if it
    /// is filled.
    @usableFromInline
    func enlist(_ newest: Unmanaged<FutureNode>, from oldest: Unmanaged<FutureNode>) -> Bool {
        preconditionFailure("\(type(of: self)) has no handlers")
    }

    /// As a future: removes `node` from the list; false if the list was taken.
    @usableFromInline
    func unlist(_ node: Unmanaged<FutureNode>) -> Bool { false }

    /// As a future that only the caller references: gives up its handlers, oldest first, unless one of them can be
    /// cancelled.
    @usableFromInline
    func takeHandlers() -> List? { nil }

    /// True while the node only waits to forward the value of another future.
    @usableFromInline
    var isForwarding: Bool { false }
}

extension Unmanaged {
    /// True if the caller's reference to the object is the only one.
    @inlinable
    package var isSole: Bool {
        var reference = self
        return withUnsafeMutablePointer(to: &reference) {
            // The same bits as a strong reference, without the retain that would falsify the result.
            $0.withMemoryRebound(to: Instance.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}
