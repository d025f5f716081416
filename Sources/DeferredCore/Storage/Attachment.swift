public import Synchronization

/// Room for an object that is made when somebody first needs it, and is told of the end of what it is attached to.
///
/// ```
///   empty ──attach──▶ attached
///     │end               │end
///     ▼                  ▼
///   ended ──attach──▶ attached and ended
/// ```
///
/// One word, so that most never pay for more. The object stays until this goes.
@usableFromInline
struct Attachment: ~Copyable {
    /// The address of the object, and whether the end has come.
    @usableFromInline let bits = AtomicWord(0)

    @usableFromInline static var ended: UInt { 0b1 }

    @inlinable
    init() {}

    @inlinable
    deinit {
        Self.object(of: bits.load(ordering: .acquiring))?.release()
    }

    @inlinable
    static func object(of bits: UInt) -> Unmanaged<AnyObject>? {
        UnsafeRawPointer(bitPattern: bits & ~ended).map(Unmanaged.fromOpaque)
    }

    /// The object, if there is one.
    var object: AnyObject? {
        // Acquires what `attach` released.
        Self.object(of: bits.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    /// Notes the end. Returns the object that is to be told.
    @inlinable
    func end() -> AnyObject? {
        // One update, so that either this finds the object, or `attach` finds the end.
        let old = bits.bitwiseOr(Self.ended, ordering: .acquiringAndReleasing).oldValue
        return Self.object(of: old)?.takeUnretainedValue()
    }

    /// The object, made now if there is none.
    ///
    /// - Parameter make: What it makes may be dropped, if another thread comes first. Called again when the end comes
    ///   meanwhile.
    func attach(_ make: (_ isEnded: Bool) -> AnyObject) -> AnyObject {
        var old = bits.load(ordering: .acquiring)
        while true {
            if let object = Self.object(of: old) { return object.takeUnretainedValue() }
            let object = make(old == Self.ended)
            let reference = Unmanaged.passRetained(object)
            // Releases the object to `object` and `end`; acquires it from another thread.
            let (exchanged, current) = bits.compareExchange(
                expected: old,
                desired: UInt(bitPattern: reference.toOpaque()) | old,
                successOrdering: .releasing,
                failureOrdering: .acquiring
            )
            if exchanged { return object }
            reference.release()
            old = current
        }
    }
}
