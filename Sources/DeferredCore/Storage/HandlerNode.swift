/// A waiting handler: a node in the list of a future.
///
/// Futures created by operators are nodes themselves, so that a `map` costs a single allocation. The list holds one
/// reference to each of its nodes.
///
/// SAFETY: `next` and `previous` belong to the current owner of the list (the pusher before its compare-and-swap, the
/// holder of the `removing` bit, the taker afterwards); all other shared state is atomic. The captures of subclasses
/// belong to the winner of `membership`.
@_fixed_layout
@usableFromInline
package class HandlerNode: @unchecked Sendable {
    /// The next older node.
    @exclusivity(unchecked)
    @usableFromInline final var next: Unmanaged<HandlerNode>?
    /// The next newer node, set once a node has been removed from the list; see `List.unlinkInner`.
    @exclusivity(unchecked)
    @usableFromInline final var previous: Unmanaged<HandlerNode>?
    @usableFromInline final let membership: Membership

    @inlinable
    init(_ membership: consuming Membership) {
        self.membership = membership
    }

    /// The outcome of `run`.
    @frozen
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

    /// Handles the end of the future it waited for, which was dropped unfilled, after `membership.drop()`.
    @usableFromInline
    func goUnfilled() {
        if membership.isPermanent || membership.isDropped { dismiss() }
    }

    /// True for a future that only waits to forward the value of another one.
    @usableFromInline
    var isForwarding: Bool { false }

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
        let wasListed: Bool
        switch membership.beginRemoval() {
        case .tooLate: return nil
        case .unowned: wasListed = false
        case .owned(let owner): wasListed = owner._withUnsafeGuaranteedRef { $0.word.remove(.passUnretained(self)) }
        }
        membership.endRemoval()
        return wasListed
    }
}

extension HandlerNode {
    /// A list of nodes linked by `next`, which holds a reference to each.
    @frozen
    @usableFromInline
    struct List {
        @usableFromInline var head: Unmanaged<HandlerNode>?

        @inlinable
        init(head: Unmanaged<HandlerNode>? = nil) {
            self.head = head
        }

        @inlinable
        init(bits: UInt) {
            head = UnsafeRawPointer(bitPattern: bits).map(Unmanaged.fromOpaque)
        }

        @inlinable
        var bits: UInt { UInt(bitPattern: head?.toOpaque()) }

        @inlinable
        var isEmpty: Bool { head == nil }

        /// Reverses a list from newest first to oldest first, the order of registration.
        @inlinable
        consuming func reversed() -> List {
            guard let first = head, var rest = first._withUnsafeGuaranteedRef({ $0.next }) else { return self }
            var result = first
            first._withUnsafeGuaranteedRef { $0.next = nil }
            while true {
                let older = rest._withUnsafeGuaranteedRef { $0.next }
                rest._withUnsafeGuaranteedRef { $0.next = result }
                result = rest
                guard let older else { return List(head: result) }
                rest = older
            }
        }

        @inlinable
        mutating func pop() -> Unmanaged<HandlerNode>? {
            guard let first = head else { return nil }
            head = first._withUnsafeGuaranteedRef { $0.next }
            return first
        }

        /// Adds a node at the front. It must have left its previous list.
        mutating func prepend(_ node: Unmanaged<HandlerNode>) {
            node._withUnsafeGuaranteedRef {
                $0.next = head
                $0.previous = nil
            }
            head = node
        }

        /// Adds other nodes at the end. O(n) in the nodes of this list.
        mutating func append(_ others: List) {
            guard var last = head else { return self = others }
            while let next = last._withUnsafeGuaranteedRef({ $0.next }) { last = next }
            last._withUnsafeGuaranteedRef { $0.next = others.head }
        }

        /// Unlinks `node`, which is in the list but not its head.
        ///
        /// Pushing leaves `previous` unset, since it must not dereference the head. So it is set here for the newest
        /// nodes, down to the first that has it already: once for each node, which makes removal amortised O(1).
        func unlinkInner(_ node: Unmanaged<HandlerNode>) {
            var newer = head
            while let current = newer, let older = current._withUnsafeGuaranteedRef({ $0.next }),
                older._withUnsafeGuaranteedRef({ $0.previous?.toOpaque() }) != current.toOpaque()
            {
                older._withUnsafeGuaranteedRef { $0.previous = current }
                newer = older
            }
            let (previous, next) = node._withUnsafeGuaranteedRef { ($0.previous, $0.next) }
            guard let previous else { preconditionFailure("a waiting handler is not in the list of its future") }
            previous._withUnsafeGuaranteedRef { $0.next = next }
            next?._withUnsafeGuaranteedRef { $0.previous = previous }
        }

        /// Frees the nodes without running them, without recursion into the futures derived from them.
        ///
        /// When this returns, no node accesses the future it waited for any more, so the future may be freed.
        @usableFromInline
        consuming func drop() {
            var nodes = List()
            while let node = pop() {
                // Waits for a cancellation in progress, which still needs the future.
                node._withUnsafeGuaranteedRef { _ = $0.membership.drop() }
                nodes.prepend(node)
            }
            Trampoline.free(nodes)
        }

        #if DEBUG
        /// True if somebody waits for the value: a task that was made of the future only observes its end.
        var hasUsers: Bool {
            var node = head
            while let current = node {
                if current._withUnsafeGuaranteedRef({ !($0 is AttachmentObserver) }) { return true }
                node = current._withUnsafeGuaranteedRef { $0.next }
            }
            return false
        }
        #endif

        /// True if no node can be cancelled or is being cancelled: each is permanent, or a stage that waits for its
        /// inner future.
        var canMove: Bool {
            var node = head
            while let current = node {
                guard current._withUnsafeGuaranteedRef({ $0.membership.isDecided }) else { return false }
                node = current._withUnsafeGuaranteedRef { $0.next }
            }
            return true
        }
    }
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
