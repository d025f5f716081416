public import Synchronization

/// The future of many values: filled by whichever of its inputs comes last.
///
/// SAFETY: each slot is written by one input before that counts itself out, and read by the last one to do so; it also
/// takes `slots`, which nobody else touches until the end of this object.
@usableFromInline
final class Gathering<Slots: GatheringSlots>: FutureStorage<Slots.Values>, @unchecked Sendable {
    @exclusivity(unchecked)
    @usableFromInline var slots: Slots?
    /// The inputs that have not come yet, and one more while inputs are being added.
    @usableFromInline let missing: AtomicWord

    @inlinable
    init(_ slots: Slots, count: Int) {
        self.slots = slots
        missing = AtomicWord(UInt(count) + 1)
        super.init(.permanent())
    }

    @inlinable
    deinit {
        slots?.deallocate()
    }

    /// Has `slot` written with the value of `input`; true if that is there already, and not counted out yet.
    @inlinable
    func add<Value: Sendable>(_ input: FutureStorage<Value>, _ slot: UnsafeMutablePointer<Value?>) -> Bool {
        if !input.word.isFilled && input.add(GatheredInput(slot, self)) { return false }
        slot.pointee = input.value
        return true
    }

    /// Ends the adding of inputs, of which `count` were filled already.
    @inlinable
    func endAdding(filled count: Int) {
        if countOut(count + 1) { fulfil(with: collect()) }
    }

    /// True for the last. Releases the slot to the last one, which acquires them all.
    @inlinable
    func countOut(_ count: Int) -> Bool {
        missing.subtract(UInt(count), ordering: .acquiringAndReleasing).newValue == 0
    }

    @inlinable
    func collect() -> Slots.Values {
        let slots = slots.unsafelyUnwrapped
        self.slots = nil
        return slots.collect()
    }
}

/// Where the values of a ``Gathering`` wait for one another.
@usableFromInline
protocol GatheringSlots: SendableMetatype {
    associatedtype Values: Sendable

    /// Moves the values out of the slots, all of which are written, and frees these.
    func collect() -> Values

    /// Frees the slots, whether written or not.
    func deallocate()
}

/// Waits for one value of a ``Gathering``.
///
/// SAFETY: `gathering` belongs to whoever runs or dismisses this node, as a permanent one does not fall to two.
@usableFromInline
final class GatheredInput<Value: Sendable, Slots: GatheringSlots>: Receiver, @unchecked Sendable {
    @usableFromInline let slot: UnsafeMutablePointer<Value?>
    @exclusivity(unchecked)
    @usableFromInline var gathering: Gathering<Slots>?

    @inlinable
    init(_ slot: UnsafeMutablePointer<Value?>, _ gathering: Gathering<Slots>) {
        self.slot = slot
        self.gathering = gathering
        super.init(.permanent()) { node, upstream, drain in
            let input = unsafeDowncast(node, to: GatheredInput.self)
            let gathering = input.gathering.unsafelyUnwrapped
            input.slot.pointee = unsafeDowncast(upstream, to: FutureStorage<Value>.self).value
            if gathering.countOut(1) { gathering.pass(gathering.collect(), to: &drain) }
            return .done
        }
    }

    @usableFromInline
    override func dismiss() {
        // Without this value there will be no tuple or array, whoever holds its future.
        gathering.take()?.dropHandlersForEver()
    }
}
