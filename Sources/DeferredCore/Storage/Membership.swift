public import Synchronization

/// Who may run a handler, or take it back: decided once, by one compare-and-swap.
///
/// ```
///   waiting(owner) ──take──▶ taken            permanent: always the list's
///        │      └──submit──▶ submitted ──take──▶ taken
///        │                        └─beginRemoval─┐
///        └──beginRemoval──▶ removing ──endRemoval──▶ cancelled ◀──giveUp── taken
/// ```
///
/// While `removing`, the owner can neither finish running its handlers nor be freed: both pass every node and wait
/// here. That is why a registration needs no reference to the future.
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

    /// A node that nobody can take back.
    @inlinable
    static func permanent() -> Membership { Membership(state: permanentState) }

    /// A node that waits for `owner`, without a reference to it.
    @inlinable
    static func waiting(for owner: __shared FutureNode) -> Membership {
        // Unlike `Unmanaged`, this makes no reference that would have to be counted.
        Membership(state: UInt(bitPattern: ObjectIdentifier(owner)))
    }

    /// A node that waits for an executor.
    @inlinable
    static func submitted() -> Membership { Membership(state: submittedState) }

    @inlinable
    var isPermanent: Bool { state.load(ordering: .relaxed) == Self.permanentState }

    /// Whether the handler is its list's, or has been taken: nobody can take it back, now or later.
    @inlinable
    var isDecided: Bool {
        let state = state.load(ordering: .relaxed)
        return state == Self.permanentState || state == Self.takenState
    }

    /// Whether the handler may still be run or taken back.
    var isPending: Bool {
        let state = state.load(ordering: .relaxed)
        return state > Self.removingState || state == Self.submittedState
    }

    @inlinable
    var isTaken: Bool { state.load(ordering: .relaxed) == Self.takenState }

    /// Wins the handler for running or dropping it. Otherwise waits until the one who took it back has left the owner.
    @inlinable
    func take() -> Bool { leave(for: Self.takenState) }

    /// Wins the handler for an executor, where it can still be taken back.
    @inlinable
    func submit() -> Bool { leave(for: Self.submittedState) }

    @inlinable
    func leave(for next: UInt) -> Bool {
        let old = state.load(ordering: .relaxed)
        if old == Self.permanentState { return true }
        guard old > Self.removingState || old == Self.submittedState else { return lose() }
        // Acquires nothing but the right to the captures; those came with the list.
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
        // Pairs with the release in `endRemoval`: all that the canceller did to the owner's list is done.
        while state.load(ordering: .acquiring) == Self.removingState { backoff.wait(for: state) }
        return false
    }

    /// Wins the handler for taking it back; `nil` if it is too late. Inside: the owner to be removed from, if any.
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

    /// Lets the owner go.
    func endRemoval() {
        state.store(Self.cancelledState, ordering: .releasing)
    }

    /// Notes that whoever took the handler will not run it. A permanent node stays one.
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
