public import Synchronization

#if DEBUG
/// An `Atomic<UInt>` whose every operation is a step that a test can hold up; see ``Interleaving``.
///
/// In release builds it is `Atomic<UInt>` itself, and nothing of this is left.
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

    /// The same as long as it exists.
    var address: UInt {
        withUnsafePointer(to: atomic) { UInt(bitPattern: $0) }
    }

    // Orderings have to be literals where an atomic is used.

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

    /// The strong exchange, so that a schedule can be repeated on every processor.
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

    /// A step of its own for plain accesses that this word guards.
    @usableFromInline
    func touch() {
        Interleaving.step(.update, address)
    }

    /// Holds this thread up until another has changed the word; false if no test steps it.
    func block() -> Bool {
        Interleaving.step(.block, address)
    }
}
#else
@usableFromInline
typealias AtomicWord = Atomic<UInt>

extension Atomic<UInt> {
    /// Where a test in a debug build may hold up plain accesses that this word guards.
    @inlinable
    @inline(__always)
    func touch() {}
}
#endif
