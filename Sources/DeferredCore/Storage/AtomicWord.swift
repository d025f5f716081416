public import Synchronization

#if DEBUG
/// An `Atomic<UInt>` whose operations are steps that a test can hold up; see ``Interleaving``.
///
/// In release builds it is a type alias for `Atomic<UInt>`, at no cost.
@usableFromInline
struct AtomicWord: ~Copyable, Sendable {
    private let atomic: Atomic<UInt>

    @usableFromInline
    init(_ value: UInt) {
        atomic = Atomic(value)
    }

    deinit {
        Interleaving.step(.end, address)
    }

    /// The address of the word, which is constant during its lifetime.
    var address: UInt {
        withUnsafePointer(to: atomic) { UInt(bitPattern: $0) }
    }

    // An atomic operation takes only literals as orderings.

    @usableFromInline
    func load(ordering: AtomicLoadOrdering) -> UInt {
        Interleaving.step(.load, address)
        return ordering == .relaxed ? atomic.load(ordering: .relaxed) : atomic.load(ordering: .acquiring)
    }

    @usableFromInline
    func store(_ value: UInt, ordering: AtomicStoreOrdering) {
        Interleaving.step(.update, address)
        assert(ordering == .releasing)
        atomic.store(value, ordering: .releasing)
    }

    @usableFromInline
    func exchange(_ value: UInt, ordering: AtomicUpdateOrdering) -> UInt {
        Interleaving.step(.update, address)
        assert(ordering == .acquiringAndReleasing)
        return atomic.exchange(value, ordering: .acquiringAndReleasing)
    }

    @usableFromInline
    func subtract(_ value: UInt, ordering: AtomicUpdateOrdering) -> (oldValue: UInt, newValue: UInt) {
        Interleaving.step(.update, address)
        assert(ordering == .acquiringAndReleasing)
        return atomic.subtract(value, ordering: .acquiringAndReleasing)
    }

    @usableFromInline
    func bitwiseOr(_ value: UInt, ordering: AtomicUpdateOrdering) -> (oldValue: UInt, newValue: UInt) {
        Interleaving.step(.update, address)
        return ordering == .relaxed
            ? atomic.bitwiseOr(value, ordering: .relaxed)
            : atomic.bitwiseOr(value, ordering: .acquiringAndReleasing)
    }

    @usableFromInline
    @discardableResult
    func bitwiseAnd(_ value: UInt, ordering: AtomicUpdateOrdering) -> (oldValue: UInt, newValue: UInt) {
        Interleaving.step(.update, address)
        assert(ordering == .releasing)
        return atomic.bitwiseAnd(value, ordering: .releasing)
    }

    @usableFromInline
    func compareExchange(
        expected: UInt,
        desired: UInt,
        successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: UInt) {
        Interleaving.step(.update, address)
        return switch (successOrdering, failureOrdering) {
        case (.acquiring, .relaxed):
            atomic.compareExchange(
                expected: expected,
                desired: desired,
                successOrdering: .acquiring,
                failureOrdering: .relaxed
            )
        case (.releasing, .acquiring):
            atomic.compareExchange(
                expected: expected,
                desired: desired,
                successOrdering: .releasing,
                failureOrdering: .acquiring
            )
        case (.acquiringAndReleasing, .relaxed):
            atomic.compareExchange(
                expected: expected,
                desired: desired,
                successOrdering: .acquiringAndReleasing,
                failureOrdering: .relaxed
            )
        case (.acquiringAndReleasing, .acquiring):
            atomic.compareExchange(
                expected: expected,
                desired: desired,
                successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring
            )
        default:
            preconditionFailure("AtomicWord does not know the orderings \(successOrdering) and \(failureOrdering)")
        }
    }

    /// Performs the strong exchange, so that a schedule is repeatable on every processor.
    @usableFromInline
    func weakCompareExchange(
        expected: UInt,
        desired: UInt,
        successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: UInt) {
        compareExchange(
            expected: expected,
            desired: desired,
            successOrdering: successOrdering,
            failureOrdering: failureOrdering
        )
    }

    /// Adds a step for plain accesses that this word guards.
    @usableFromInline
    func touch() {
        Interleaving.step(.update, address)
    }

    /// Holds this thread up until another thread has changed the word; false if no test steps this thread.
    func block() -> Bool {
        Interleaving.step(.block, address)
    }
}
#else
@usableFromInline
typealias AtomicWord = Atomic<UInt>

extension Atomic<UInt> {
    /// Does nothing; in debug builds, a step for plain accesses that this word guards.
    @inlinable
    @inline(__always)
    func touch() {}
}
#endif
