public import Synchronization

/// The ownership of a handler: one compare-and-swap decides whether it is run or cancelled.
///
/// ```
///   waiting(owner) ──take──▶ taken            permanent: always the list's
///        │      └──submit──▶ submitted ──take──▶ taken
///        │                        └─beginRemoval─┐
///        └──beginRemoval──▶ removing ──endRemoval──▶ cancelled ◀──giveUp── taken
/// ```
///
/// While the state is `removing`, the owner can neither finish running its handlers nor be freed: both visit every
/// node, and wait here. That is why a registration needs no reference to the future.
@usableFromInline
struct Membership: ~Copyable {
    @usableFromInline let state: AtomicWord

    @usableFromInline static var permanentState: UInt { 1 }
    @usableFromInline static var cancelledState: UInt { 2 }
    @usableFromInline static var takenState: UInt { 3 }
    @usableFromInline static var submittedState: UInt { 4 }
    @usableFromInline static var removingState: UInt { 5 }

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
    @inlinable
    var isDecided: Bool {
        let state = state.load(ordering: .relaxed)
        return state == Self.permanentState || state == Self.takenState
    }

    /// True while the handler can still run or be cancelled.
    var isPending: Bool {
        let state = state.load(ordering: .relaxed)
        return state > Self.removingState || state == Self.submittedState
    }

    @inlinable
    var isTaken: Bool { state.load(ordering: .relaxed) == Self.takenState }

    /// Wins the handler for running or dropping it. Otherwise waits until the cancelling thread is done with the owner.
    @inlinable
    func take() -> Bool { leave(for: Self.takenState) }

    /// Wins the handler for submitting it to an executor, where it can still be cancelled.
    @inlinable
    func submit() -> Bool { leave(for: Self.submittedState) }

    @inlinable
    func leave(for next: UInt) -> Bool {
        let old = state.load(ordering: .relaxed)
        if old == Self.permanentState { return true }
        guard old > Self.removingState || old == Self.submittedState else { return lose() }
        // Acquires only the right to the captures; their memory was acquired with the list.
        let (exchanged, _) = state.compareExchange(
            expected: old,
            desired: next,
            successOrdering: .acquiring,
            failureOrdering: .relaxed
        )
        return exchanged || lose()
    }

    @usableFromInline
    func lose() -> Bool {
        var backoff = Backoff()
        // Pairs with the release in `endRemoval`: the cancelling thread no longer changes the owner's list.
        while state.load(ordering: .acquiring) == Self.removingState { backoff.wait(for: state) }
        return false
    }

    /// Wins the handler for cancelling it; `nil` if it is too late. The result is the owner to remove it from, if any.
    func beginRemoval() -> Unmanaged<FutureNode>?? {
        let old = state.load(ordering: .relaxed)
        guard old > Self.removingState || old == Self.submittedState else { return nil }
        let (exchanged, _) = state.compareExchange(
            expected: old,
            desired: Self.removingState,
            successOrdering: .acquiring,
            failureOrdering: .relaxed
        )
        guard exchanged else { return nil }
        return .some(old == Self.submittedState ? nil : UnsafeRawPointer(bitPattern: old).map(Unmanaged.fromOpaque))
    }

    /// Ends the removal, after which the owner may be freed.
    func endRemoval() {
        state.store(Self.cancelledState, ordering: .releasing)
    }

    /// Records that a taken handler is not going to run. A permanent node stays permanent.
    @usableFromInline
    func giveUp() {
        if state.load(ordering: .relaxed) == Self.takenState { state.store(Self.cancelledState, ordering: .releasing) }
    }

    @usableFromInline
    var isCancelled: Bool {
        let state = state.load(ordering: .relaxed)
        return state == Self.cancelledState || state == Self.removingState
    }
}
