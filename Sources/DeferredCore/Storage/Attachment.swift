public import Synchronization

/// Room for an object that is told of the end of what it is attached to.
///
/// ```
///   empty ──attach──▶ attached
///     │end               │end
///     ▼                  ▼
///   ended              attached and ended
/// ```
///
/// One word, so that most never pay for more. The object stays until this goes.
@usableFromInline
package struct Attachment: ~Copyable {
    /// The address of the object, and the flags.
    @usableFromInline let bits = AtomicWord(0)

    @usableFromInline static var ended: UInt { 0b1 }
    @usableFromInline static var failed: UInt { 0b10 }
    @usableFromInline static var reserved: UInt { 0b100 }
    /// Objects are aligned to 16 bytes, so that their addresses leave these bits free.
    @usableFromInline static var flags: UInt { 0b111 }

    @inlinable
    package init() {}

    @inlinable
    deinit {
        Self.object(of: bits.load(ordering: .acquiring))?.release()
    }

    @inlinable
    static func object(of bits: UInt) -> Unmanaged<AnyObject>? {
        UnsafeRawPointer(bitPattern: bits & ~flags).map(Unmanaged.fromOpaque)
    }

    /// The object, if there is one.
    @inlinable
    package var object: AnyObject? {
        // Acquires what `attach` released.
        Self.object(of: bits.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    /// Attaches an object; false if there is one, or if the end has come.
    package func attach(_ object: AnyObject) -> Bool {
        let reference = Unmanaged.passRetained(object)
        var old = bits.load(ordering: .acquiring)
        while old & ~(Self.failed | Self.reserved) == 0 {
            // Releases the object to `object` and `end`. Acquires the end, for one who comes too late.
            let (exchanged, current) = bits.compareExchange(
                expected: old,
                desired: UInt(bitPattern: reference.toOpaque()) | old,
                successOrdering: .releasing,
                failureOrdering: .acquiring
            )
            if exchanged { return true }
            old = current
        }
        reference.release()
        return false
    }

    /// Notes the end. Returns the object that is to be told.
    @inlinable
    func end() -> AnyObject? {
        // One update, so that either this finds the object, or `attach` finds the end.
        let old = bits.bitwiseOr(Self.ended, ordering: .acquiringAndReleasing).oldValue
        return Self.object(of: old)?.takeUnretainedValue()
    }

    /// Notes that the end is going to be a failure.
    @inlinable
    func fail() {
        // Relaxed: the value that is published afterwards releases it.
        _ = bits.bitwiseOr(Self.failed, ordering: .relaxed)
    }

    /// Whether the end has come, and is no failure.
    var hasSucceeded: Bool { bits.load(ordering: .relaxed) & (Self.ended | Self.failed) == Self.ended }

    /// Wins the room for the caller, where several may want to attach an object. True for one of them, ever.
    @inlinable
    package func reserve() -> Bool {
        bits.bitwiseOr(Self.reserved, ordering: .relaxed).oldValue & Self.reserved == 0
    }
}
