extension FutureNode {
    /// Nodes linked by `next`, with a reference to each.
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

        /// From newest first to oldest first: the order of registration.
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

        /// Adds a node that has left the list it was in.
        mutating func prepend(_ node: Unmanaged<FutureNode>) {
            node._withUnsafeGuaranteedRef {
                $0.next = head
                $0.previous = nil
            }
            head = node
        }

        /// Adds other nodes at the end, which is looked for from the head.
        mutating func append(_ others: List) {
            guard var last = head else { return self = others }
            while let next = last._withUnsafeGuaranteedRef({ $0.next }) { last = next }
            last._withUnsafeGuaranteedRef { $0.next = others.head }
        }

        /// Links the neighbours of `node`, which is in the list but not its head.
        ///
        /// Pushing leaves `previous` unset, as it must not look into the head. So the newest nodes are given theirs
        /// here, down to the first that has it already: once for each node, which makes removal amortised constant.
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

        /// Frees the nodes without running them, however deep the futures behind them are nested.
        ///
        /// When this returns, nobody looks at the future they waited for any longer, so that it may go.
        consuming func drop() {
            var (taken, others) = (List(), List())
            while let node = pop() {
                // Waits for a cancellation that is under way: that still needs the future.
                if node._withUnsafeGuaranteedRef({ $0.membership.take() }) {
                    taken.prepend(node)
                } else {
                    others.prepend(node)
                }
            }
            Trampoline.free(taken, isDismissing: true)
            Trampoline.free(others, isDismissing: false)
        }

        /// Whether none of them can be taken back, or is just being: each is permanent, or a stage that waits for its inner
        /// future.
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
