public import Synchronization

/// The state of a future, in one atomic word.
///
/// ```
///             claim               publish
///   pending ─────────▶ claimed ─────────────▶ filled
///      │  push, remove    │  push, remove       (for ever)
///      ├──────────────────┴─ publish ──────────▶
///      └─orphan─▶ orphaned                        (for ever)
/// ```
///
/// An orphaned future can never be filled, since the future it waited for is gone: it drops all handlers.
///
/// The bits above the flags of an unfilled future are the address of the newest waiting handler, the head of a list from
/// the newest to the oldest. Handlers are pushed by compare-and-swap; `publish` takes all of them. Only removing a single
/// handler needs exclusion: the `removing` bit, held for a few instructions, during which no other code is called.
@frozen
@usableFromInline
struct StateWord: ~Copyable {
    @usableFromInline let bits: AtomicWord

    @usableFromInline static var filled: UInt { 0b001 }
    @usableFromInline static var claimed: UInt { 0b010 }
    @usableFromInline static var removing: UInt { 0b100 }
    @usableFromInline static var orphaned: UInt { 0b1000 }
    /// Objects are aligned to 16 bytes, so these bits of their addresses are free.
    @usableFromInline static var flags: UInt { 0b1111 }
    /// Nothing has to be done to free the value. A filled future has no handlers, whose address would be here.
    @usableFromInline static var trivial: UInt { 0b1_0000 }

    @inlinable
    init(filled: Bool, isTrivial: Bool = false) {
        bits = AtomicWord(filled ? Self.filled(isTrivial) : 0)
    }

    /// The word of a filled future.
    @inlinable
    static func filled(_ isTrivial: Bool) -> UInt { filled | claimed | (isTrivial ? trivial : 0) }

    /// True if there is a value, and freeing it takes more than freeing the future.
    ///
    /// For the owner of the last reference. Acquires the value; pairs with the release in `publish`.
    @inlinable
    var hasValueToFree: Bool {
        bits.load(ordering: .acquiring) & (Self.filled | Self.trivial) == Self.filled
    }

    /// True if the value may be read. Acquires the value; pairs with the release in `publish`.
    @inlinable
    var isFilled: Bool {
        bits.load(ordering: .acquiring) & Self.filled != 0
    }

    /// True while a handler waits. Exact only for the owner of the last reference.
    @inlinable
    var hasHandlers: Bool {
        let bits = bits.load(ordering: .relaxed)
        return bits & Self.filled == 0 && bits & ~Self.flags != 0
    }

    /// Wins the right to publish. True for one caller, ever.
    ///
    /// Relaxed, since it guards no memory that another thread wrote: `publish` makes the winner's value visible.
    @inlinable
    func claim() -> Bool {
        bits.update { $0.bitwiseOr(Self.claimed, ordering: .relaxed) }.oldValue & Self.claimed == 0
    }

    /// Wins the right to publish; otherwise waits until the winner has published, so that the loser can read the value, too.
    @inlinable
    func claimOrWait() -> Bool {
        if claim() { return true }
        _ = wait(until: Self.filled, is: Self.filled)
        return false
    }

    /// Makes the value visible and takes the handlers, newest first. For the winner of `claim`, or the only writer.
    ///
    /// Releases the value to `isFilled` and to `push`; acquires the nodes from `push`.
    ///
    /// - Parameter isTrivial: True if nothing has to be done to free the value.
    @inlinable
    @inline(__always)
    func publish(isTrivial: Bool = false) -> HandlerNode.List {
        let filled = Self.filled(isTrivial)
        return HandlerNode.List(bits: update { _ in filled } & ~Self.flags)
    }

    /// Takes the handlers, newest first, if none of them can be cancelled; `nil` if one can, or if there are none ever.
    ///
    /// For the holder of the only reference, so that nothing is pushed meanwhile. To all others, the future stays what it
    /// is, unfilled: a cancellation of what waits for it can come at any time.
    func takeMovable() -> HandlerNode.List? {
        // Excludes removals, which would change the list, and free its nodes.
        guard let locked = lock() else { return nil }
        bits.touch()
        let handlers = HandlerNode.List(bits: locked & ~Self.flags)
        // A handler that can be cancelled refers to this future as its owner, and can't move.
        let canMove = handlers.canMove
        bits.update { $0.bitwiseAnd(canMove ? Self.claimed : ~Self.removing, ordering: .releasing) }
        return canMove ? handlers : nil
    }

    /// Records that there will be no value, and takes the handlers. For the only writer.
    func orphan() -> HandlerNode.List {
        HandlerNode.List(bits: update { $0 & Self.claimed | Self.orphaned } & ~Self.flags)
    }

    /// Changes the word once no handler is being removed. Returns the previous word.
    ///
    /// Acquires the nodes from pushes, and their links from the last holder of the `removing` bit.
    @inlinable
    @inline(__always)
    func update(_ change: (UInt) -> UInt) -> UInt {
        var old = bits.load(ordering: .relaxed)
        while true {
            if old & Self.removing != 0 {
                old = wait(until: Self.removing, is: 0)
                continue
            }
            let (exchanged, current) = bits.weakCompareExchange(
                expected: old,
                desired: change(old),
                successOrdering: .acquiringAndReleasing,
                failureOrdering: .relaxed
            )
            if exchanged { return old }
            old = current
        }
    }

    /// Adds a handler, unless the future is filled; or several that are linked from `newest` to `oldest`, all of them or
    /// none, so that none runs before an older one. Takes over one reference to each when it returns true.
    ///
    /// Releases the nodes to `publish` and `remove`; when it returns false, the value may be read.
    @inlinable
    @inline(__always)
    func push(_ newest: Unmanaged<HandlerNode>, from oldest: Unmanaged<HandlerNode>? = nil) -> Bool {
        let oldest = oldest ?? newest
        // It may still be set from the list that the node was in before.
        newest._withUnsafeGuaranteedRef { $0.previous = nil }
        let address = UInt(bitPattern: newest.toOpaque())
        var old = bits.load(ordering: .acquiring)
        while old & (Self.filled | Self.orphaned) == 0 {
            // The head is only stored here, never dereferenced: it may be freed before the exchange. If another node
            // gets its address meanwhile and becomes the head, the exchange is still correct.
            oldest._withUnsafeGuaranteedRef { $0.next = HandlerNode.List(bits: old & ~Self.flags).head }
            let (exchanged, current) = bits.weakCompareExchange(
                expected: old,
                desired: address | (old & Self.flags),
                successOrdering: .releasing,
                failureOrdering: .acquiring
            )
            if exchanged { return true }
            old = current
        }
        oldest._withUnsafeGuaranteedRef { $0.next = nil }
        if old & Self.filled != 0 { return false }
        // They come too late for an orphaned future.
        HandlerNode.List(head: newest).drop()
        return true
    }

    /// Removes a handler. False if the whole list was taken before; then `node` belongs to the taker.
    ///
    /// - Precondition: `node` was pushed here, and its membership is in the removing state, so that this word outlives
    ///   the call.
    func remove(_ node: Unmanaged<HandlerNode>) -> Bool {
        let address = UInt(bitPattern: node.toOpaque())
        guard var old = lock() else { return false }
        while old & ~Self.flags == address {
            // The newest handler is removed, and the word unlocked, in one step, unless a push or a claim comes
            // between.
            let next = node._withUnsafeGuaranteedRef { $0.next }
            let (exchanged, current) = bits.weakCompareExchange(
                expected: old,
                desired: HandlerNode.List(head: next).bits | (old & Self.flags & ~Self.removing),
                successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring
            )
            if exchanged { return true }
            old = current
        }
        bits.touch()
        HandlerNode.List(bits: old & ~Self.flags).unlinkInner(node)
        bits.update { $0.bitwiseAnd(~Self.removing, ordering: .releasing) }
        return true
    }

    /// Sets the `removing` bit; `nil` if the list was taken.
    @inline(__always)
    private func lock() -> UInt? {
        let old = update { $0 & (Self.filled | Self.orphaned) == 0 ? $0 | Self.removing : $0 }
        return old & (Self.filled | Self.orphaned) == 0 ? old | Self.removing : nil
    }

    /// Waits for another thread's next few instructions, after which `bit` has a value. Returns the word, acquired.
    @usableFromInline
    func wait(until bit: UInt, is value: UInt) -> UInt {
        var backoff = Backoff()
        while true {
            let current = bits.load(ordering: .acquiring)
            if current & bit == value { return current }
            backoff.wait(for: bits)
        }
    }
}
