public import Synchronization

#if DEBUG
/// An `Atomic<UInt>` whose operations are steps that a test can hold up; see ``Interleaving``.
///
/// In release builds it is a type alias for `Atomic<UInt>`, at no cost. An atomic operation takes only literals as
/// orderings, so that its wrapper has to be transparent, too.
@usableFromInline
struct AtomicWord: ~Copyable, Sendable {
    @usableFromInline let atomic: Atomic<UInt>

    @usableFromInline
    init(_ value: UInt) {
        atomic = Atomic(value)
    }

    deinit {
        step(.end)
    }

    /// The address of the word, which is constant during its lifetime.
    var address: UInt {
        withUnsafePointer(to: atomic) { UInt(bitPattern: $0) }
    }

    @usableFromInline
    func step(_ operation: Interleaving.Operation) {
        Interleaving.step(operation, address)
    }

    @_semantics("atomics.requires_constant_orderings")
    @_transparent
    @usableFromInline
    func load(ordering: AtomicLoadOrdering) -> UInt {
        step(.load)
        return atomic.load(ordering: ordering)
    }

    @_semantics("atomics.requires_constant_orderings")
    @_transparent
    @usableFromInline
    func store(_ value: UInt, ordering: AtomicStoreOrdering) {
        step(.update)
        atomic.store(value, ordering: ordering)
    }

    @_semantics("atomics.requires_constant_orderings")
    @_transparent
    @usableFromInline
    func subtract(_ value: UInt, ordering: AtomicUpdateOrdering) -> (oldValue: UInt, newValue: UInt) {
        step(.update)
        return atomic.subtract(value, ordering: ordering)
    }

    @_semantics("atomics.requires_constant_orderings")
    @_transparent
    @usableFromInline
    @discardableResult
    func bitwiseOr(_ value: UInt, ordering: AtomicUpdateOrdering) -> (oldValue: UInt, newValue: UInt) {
        step(.update)
        return atomic.bitwiseOr(value, ordering: ordering)
    }

    @_semantics("atomics.requires_constant_orderings")
    @_transparent
    @usableFromInline
    @discardableResult
    func bitwiseAnd(_ value: UInt, ordering: AtomicUpdateOrdering) -> (oldValue: UInt, newValue: UInt) {
        step(.update)
        return atomic.bitwiseAnd(value, ordering: ordering)
    }

    /// Performs the strong exchange, so that a schedule is repeatable on every processor.
    @_semantics("atomics.requires_constant_orderings")
    @_transparent
    @usableFromInline
    func weakCompareExchange(
        expected: UInt,
        desired: UInt,
        successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: UInt) {
        step(.update)
        return atomic.compareExchange(
            expected: expected,
            desired: desired,
            successOrdering: successOrdering,
            failureOrdering: failureOrdering
        )
    }

    /// Adds a step for plain accesses that this word guards.
    @usableFromInline
    func touch() {
        step(.update)
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
