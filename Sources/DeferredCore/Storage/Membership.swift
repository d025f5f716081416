public import Synchronization

/// The ownership of a handler: one compare-and-swap decides whether it is run or cancelled.
///
/// ```
///   waiting(owner) ──take──▶ taken            permanent: always the list's
///     ▲  │  │    └──submit──▶ submitted ──take──▶ taken
///     │  │  │                     └─beginRemoval─┐
///     │  │  └──beginRemoval──▶ removing ──endRemoval──▶ cancelled
///     └─examine (examining)
///
///   waiting, submitted ──drop──▶ dropped
/// ```
///
/// While the state is `removing` or `examining`, the owner can neither finish running its handlers nor be freed: both
/// visit every node, and wait here. That is why a registration needs no reference to the future, and a stage none to
/// the one it waits for.
@frozen
@usableFromInline
struct Membership: ~Copyable {
    @usableFromInline let state: AtomicWord

    @usableFromInline static var permanentState: UInt { 1 }
    @usableFromInline static var cancelledState: UInt { 2 }
    @usableFromInline static var takenState: UInt { 3 }
    @usableFromInline static var submittedState: UInt { 4 }
    @usableFromInline static var removingState: UInt { 5 }
    @usableFromInline static var examiningState: UInt { 6 }
    @usableFromInline static var droppedState: UInt { 7 }
    /// Objects are aligned to 16 bytes, so everything above is the address of an owner.
    @usableFromInline static var lastState: UInt { droppedState }

    @inlinable
    init(state: UInt) {
        self.state = AtomicWord(state)
    }

    /// Creates the membership of a node that can't be cancelled.
    @inlinable
    static func permanent() -> Membership { Membership(state: permanentState) }

    /// Creates the membership of a node that waits for `owner`, without a reference to it.
    @inlinable
    static func waiting(for owner: __shared FutureNode) -> Membership {
        // Unlike `Unmanaged`, `ObjectIdentifier` causes no reference counting.
        Membership(state: UInt(bitPattern: ObjectIdentifier(owner)))
    }

    /// Creates the membership of a node that waits for an executor.
    @inlinable
    static func submitted() -> Membership { Membership(state: submittedState) }

    /// True if the handler is permanent or taken, so that it can't be cancelled, now or later.
    var isDecided: Bool { isPermanent || isTaken }

    var isPermanent: Bool { state.load(ordering: .relaxed) == Self.permanentState }

    /// True while the handler can still run or be cancelled.
    var isPending: Bool {
        isWaiting || state.load(ordering: .relaxed) == Self.submittedState
    }

    /// True while the handler waits for its owner.
    var isWaiting: Bool {
        let state = state.load(ordering: .relaxed)
        return state > Self.lastState || state == Self.examiningState
    }

    @inlinable
    var isTaken: Bool { state.load(ordering: .relaxed) == Self.takenState }

    /// True if nothing is left that could run the handler.
    @usableFromInline
    var isDropped: Bool { state.load(ordering: .relaxed) == Self.droppedState }

    /// Wins the handler for running it. Otherwise waits until the cancelling thread is done with the owner.
    @inlinable
    func take() -> Bool { change(to: Self.takenState) != nil }

    /// Wins the handler for submitting it to an executor, where it can still be cancelled.
    @inlinable
    func submit() -> Bool { change(to: Self.submittedState) != nil }

    /// Wins the handler for freeing it, since the future that it waited for, or the executor, will not run it.
    @inlinable
    func drop() -> Bool { change(to: Self.droppedState) != nil }

    /// Moves a handler to another state. Returns the state that it left; `nil` if the handler is not to be had any more, or,
    /// to be examined, is not in a list.
    ///
    /// Waits for a thread that examines the node and, unless this is to remove or to examine it, for one that removes it.
    @inlinable
    func change(to next: UInt) -> UInt? {
        let isForTaker = next != Self.removingState && next != Self.examiningState
        var backoff = Backoff()
        while true {
            // Pairs with the releases in `endRemoval` and `examine`: the other thread no longer uses the owner.
            let old = state.load(ordering: .acquiring)
            if old == Self.permanentState { return isForTaker ? old : nil }
            if old > Self.lastState || old == Self.submittedState && next != Self.examiningState {
                // Acquires the right to the captures, or to the owner; their memory was acquired with the list.
                let (exchanged, _) = state.weakCompareExchange(
                    expected: old,
                    desired: next,
                    successOrdering: .acquiring,
                    failureOrdering: .relaxed
                )
                if exchanged { return old }
            } else if old == Self.examiningState || old == Self.removingState && isForTaker {
                backoff.wait(for: state)
            } else {
                return nil
            }
        }
    }

    /// The outcome of `beginRemoval`.
    enum Removal {
        /// The handler was taken, cancelled or dropped before, or is permanent.
        case tooLate
        /// The handler waits for its executor; it is in no list.
        case unowned
        /// The handler has to be removed from the list of its owner.
        case owned(Unmanaged<FutureNode>)
    }

    /// Wins the handler for cancelling it, unless it is too late.
    func beginRemoval() -> Removal {
        guard let old = change(to: Self.removingState) else { return .tooLate }
        let owner = old == Self.submittedState ? nil : UnsafeRawPointer(bitPattern: old)
        return owner.map { .owned(.fromOpaque($0)) } ?? .unowned
    }

    /// Ends the removal, after which the owner may be freed.
    func endRemoval() {
        state.update { $0.store(Self.cancelledState, ordering: .releasing) }
    }

    /// Returns the future that the node waits for, with a reference to it.
    func examine() -> UnownedFuture.Input {
        guard let old = change(to: Self.examiningState) else {
            return isDropped ? .lost : .ended
        }
        // The memory exists, since the owner waits for this; but it may be deinitialising.
        let owner = UnsafeRawPointer(bitPattern: old).flatMap { Unmanaged<FutureNode>.fromOpaque($0).strongIfAlive }
        // Pairs with the acquiring loads of those who wait: the owner may go on to run, remove or drop the node.
        state.update { $0.store(old, ordering: .releasing) }
        return owner.map { .waiting($0) } ?? .lost
    }

    @usableFromInline
    var isCancelled: Bool {
        let state = state.load(ordering: .relaxed)
        return state == Self.cancelledState || state == Self.removingState
    }
}
