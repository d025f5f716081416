public import Synchronization

#if DEBUG
/// An `Atomic<UInt>` whose operations are steps that a test can hold up; see ``Interleaving``.
///
/// In release builds it is a type alias for `Atomic<UInt>`, at no cost. An atomic operation takes only literals as
/// orderings, so that its wrapper has to be transparent, too.
@frozen
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

    /// Performs an operation as one step.
    @_transparent
    @usableFromInline
    @discardableResult
    func update<Result>(_ body: (borrowing Atomic<UInt>) -> Result) -> Result {
        step(.update)
        return body(atomic)
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
    /// Performs an operation, which is one step in debug builds.
    @_transparent
    @usableFromInline
    @discardableResult
    func update<Result>(_ body: (borrowing Self) -> Result) -> Result { body(self) }

    /// Does nothing; in debug builds, a step for plain accesses that this word guards.
    @inlinable
    @inline(__always)
    func touch() {}
}
#endif

/// Waits for another thread's next few instructions: spins, then yields, in case that thread has lost the processor.
@usableFromInline
struct Backoff {
    private var rounds = 0

    @usableFromInline
    init() {}

    /// - Parameter word: The word that the other thread is about to change.
    @usableFromInline
    mutating func wait(for word: borrowing AtomicWord) {
        #if DEBUG
        if word.block() { return }
        #endif
        rounds += 1
        if rounds > 64 { yieldProcessor() }
    }
}
