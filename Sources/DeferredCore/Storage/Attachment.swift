public import Synchronization

/// Storage for an object that is notified when the future it is attached to ends.
///
/// ```
///   empty ──cancel──▶ cancelled ──attach──▶ attached
///     │ └────────────attach────────────────────┘│
///     │end               │end                   │end
///     ▼                  ▼                      ▼
///   ended              ended                  attached and ended
/// ```
///
/// A cancellation is noted here only where no object is attached that could be told of it.
///
/// It is a single word, so that it costs little where no object is attached. The object is retained until the
/// attachment is freed.
@frozen
@usableFromInline
package struct Attachment: ~Copyable {
    /// The address of the object, and the flags.
    @usableFromInline let bits = AtomicWord(0)

    @usableFromInline static var ended: UInt { 0b1 }
    @usableFromInline static var failed: UInt { 0b10 }
    @usableFromInline static var reserved: UInt { 0b100 }
    @usableFromInline static var cancelled: UInt { 0b1000 }
    /// Objects are aligned to 16 bytes, so these bits of their addresses are free.
    @usableFromInline static var flags: UInt { 0b1111 }

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

    /// The address, which is constant as long as its owner exists.
    @inlinable
    var address: UnsafePointer<Attachment> { withUnsafePointer(to: self) { $0 } }

    /// The object, if there is one.
    @inlinable
    package var object: AnyObject? {
        // Acquires the object; pairs with the release in `attach`.
        Self.object(of: bits.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    /// Attaches an object; false if there already is one, or if the future has ended.
    ///
    /// - Parameter prepare: Tells the object of the cancellation that was noted, before others can find the object. May
    ///   be called more than once.
    package func attach(_ object: AnyObject, afterCancelling prepare: () -> Void = {}) -> Bool {
        let reference = Unmanaged.passRetained(object)
        // Releases the object to `object` and `end`.
        let obstacle = add(UInt(bitPattern: reference.toOpaque()), besides: Self.cancelled, prepare)
        if obstacle != nil { reference.release() }
        return obstacle == nil
    }

    /// Notes a cancellation: true the first time before the end, and `nil` if an object is attached instead.
    package func cancel() -> Bool? {
        // Pairs with the load in `isCancelled`, and with `attach`: an object that comes later is told by it.
        guard let obstacle = add(Self.cancelled) else { return true }
        return Self.object(of: obstacle) == nil ? false : nil
    }

    /// Adds bits, if no others are set than `reserved` and `allowed`. Returns the bits that prevented it.
    ///
    /// - Parameter prepare: Called before the bits are added, if one of `allowed` is set.
    private func add(_ new: UInt, besides allowed: UInt = 0, _ prepare: () -> Void = {}) -> UInt? {
        var old = bits.load(ordering: .acquiring)
        while old & ~(Self.reserved | allowed) == 0 {
            if old & allowed != 0 { prepare() }
            // On failure, acquires what precedes the end.
            let (exchanged, current) = bits.weakCompareExchange(
                expected: old,
                desired: old | new,
                successOrdering: .releasing,
                failureOrdering: .acquiring
            )
            if exchanged { return nil }
            old = current
        }
        return old
    }

    /// True if a cancellation was noted here.
    package var isCancelled: Bool { bits.load(ordering: .acquiring) & Self.cancelled != 0 }

    /// Records the end. Returns the object to notify.
    @inlinable
    package func end(hasFailed: Bool) -> AnyObject? {
        let flags = hasFailed ? Self.ended | Self.failed : Self.ended
        // A single update, so that either this finds the object, or `attach` finds the end.
        let old = bits.update { $0.bitwiseOr(flags, ordering: .acquiringAndReleasing) }.oldValue
        return Self.object(of: old)?.takeUnretainedValue()
    }

    /// True if the future has ended, and not with a failure.
    var hasSucceeded: Bool { bits.load(ordering: .relaxed) & (Self.ended | Self.failed) == Self.ended }

    /// Reserves the attachment for the caller, if several may want to attach an object. True for exactly one, ever.
    @inlinable
    package func reserve() -> Bool {
        bits.update { $0.bitwiseOr(Self.reserved, ordering: .relaxed) }.oldValue & Self.reserved == 0
    }
}
