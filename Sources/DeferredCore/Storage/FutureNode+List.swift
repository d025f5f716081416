extension FutureNode {
    /// A list of nodes linked by `next`, which holds a reference to each.
    @usableFromInline
    struct List {
        @usableFromInline var head: Unmanaged<FutureNode>?

        @inlinable
        init(head: Unmanaged<FutureNode>? = nil) {
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
        mutating func pop() -> Unmanaged<FutureNode>? {
            guard let first = head else { return nil }
            head = first._withUnsafeGuaranteedRef { $0.next }
            return first
        }

        /// Adds a node at the front. It must have left its previous list.
        mutating func prepend(_ node: Unmanaged<FutureNode>) {
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
        func unlinkInner(_ node: Unmanaged<FutureNode>) {
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
        consuming func drop() {
            var (taken, others) = (List(), List())
            while let node = pop() {
                // Waits for a cancellation in progress, which still needs the future.
                if node._withUnsafeGuaranteedRef({ $0.membership.drop() }) {
                    taken.prepend(node)
                } else {
                    others.prepend(node)
                }
            }
            Trampoline.free(taken, isDismissing: true)
            Trampoline.free(others, isDismissing: false)
        }

        /// True if no node can be cancelled or is being cancelled: each is permanent, or a stage that waits for its
        /// inner future.
        var canMove: Bool {
            var node = head
            while let current = node {
                guard current._withUnsafeGuaranteedRef({ $0.membership.isDecided }) else {
                    return false
                }
                node = current._withUnsafeGuaranteedRef { $0.next }
            }
            return true
        }
    }
}
