public import Synchronization

/// A reference from a future to the object that would cancel it, without keeping that object alive.
///
/// The future uses it once, at its end; the object cuts it before it goes, whether or not the future has ended. Whichever
/// comes second finds nothing; if both come together, the object waits for the few instructions that `use` takes. Both hold
/// it, since either can be gone when the other comes.
@usableFromInline
package final class BackReference: Sendable {
    @usableFromInline let bits = AtomicWord(0)

    @inlinable
    package init() {}

    /// Refers to `object`. Before the future can end on another thread.
    @inlinable
    package func tie(to object: AnyObject) {
        bits.store(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), ordering: .releasing)
    }

    /// Calls `body` with the object, if it still lives, and forgets it. `body` must neither block nor call out.
    @inlinable
    package func use<Object: AnyObject, Result>(as: Object.Type, _ body: (Object) -> Result) -> Result? {
        let address = bits.load(ordering: .relaxed)
        guard address > Self.inUse,
            // Acquires what the object's maker wrote before it tied.
            exchange(address, for: Self.inUse)
        else { return nil }
        // Nothing but `cut` in the deinitialiser of the object changes the word, and that waits from now on.
        defer { bits.store(0, ordering: .releasing) }
        guard let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
        return Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
    }

    /// Forgets the object, which is about to go.
    package func cut() {
        var backoff = Backoff()
        while true {
            let address = bits.load(ordering: .acquiring)
            if address == 0 { return }
            if address == Self.inUse {
                backoff.wait(for: bits)
            } else if exchange(address, for: 0) {
                return
            }
        }
    }

    @inlinable
    func exchange(_ address: UInt, for new: UInt) -> Bool {
        bits.compareExchange(
            expected: address,
            desired: new,
            successOrdering: .acquiring,
            failureOrdering: .relaxed
        ).exchanged
    }

    @usableFromInline static var inUse: UInt { 1 }
}
