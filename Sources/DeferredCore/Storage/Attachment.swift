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
///
/// The word also serves those who know a future by an `UnownedFuture`: it is closed before anything else of the future goes,
/// and who holds it holds that up.
@usableFromInline
package struct Attachment: ~Copyable {
    /// The address of the object, and the flags.
    @usableFromInline let bits = AtomicWord(0)

    @usableFromInline static var ended: UInt { 0b1 }
    @usableFromInline static var failed: UInt { 0b10 }
    @usableFromInline static var closed: UInt { 0b100 }
    /// Of an operator's result: somebody looks at it. Of a producer's: the room has been given away.
    @usableFromInline static var held: UInt { 0b1000 }
    /// Objects are aligned to 16 bytes, so that their addresses leave these bits free.
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

    /// The object, if there is one.
    @inlinable
    package var object: AnyObject? {
        // Acquires what `attach` released.
        Self.object(of: bits.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    /// Attaches an object; false if there is one, or if the end has come, or this is closed.
    package func attach(_ object: AnyObject) -> Bool {
        let reference = Unmanaged.passRetained(object)
        var old = bits.load(ordering: .acquiring)
        while old & ~(Self.failed | Self.held) == 0 {
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

    /// Whether the end is a failure, for one who knows that it has come.
    @inlinable
    var hasFailed: Bool { bits.load(ordering: .relaxed) & Self.failed != 0 }

    /// Wins the room for the caller, where several may want to attach an object. True for one of them, ever.
    @inlinable
    package func reserve() -> Bool {
        bits.bitwiseOr(Self.held, ordering: .relaxed).oldValue & Self.held == 0
    }

    // MARK: - The end of the future

    /// Holds up the end of the future, until `release`; false if that has begun.
    func hold() -> Bool {
        var backoff = Backoff()
        var old = bits.load(ordering: .relaxed)
        while old & Self.closed == 0 {
            if old & Self.held != 0 {
                backoff.wait(for: bits)
                old = bits.load(ordering: .relaxed)
                continue
            }
            let (exchanged, current) = bits.compareExchange(
                expected: old,
                desired: old | Self.held,
                successOrdering: .acquiring,
                failureOrdering: .relaxed
            )
            if exchanged { return true }
            old = current
        }
        return false
    }

    /// Lets the future go.
    func release() {
        bits.bitwiseAnd(~Self.held, ordering: .releasing)
    }

    /// Lets nobody attach or hold any more.
    @inlinable
    func close() {
        _ = bits.bitwiseOr(Self.closed, ordering: .relaxed)
    }

    /// The same, after whoever holds it.
    @inlinable
    func closeWhenFree() {
        // Acquires what the holder did, from `release`.
        if bits.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue & Self.held != 0 { waitUntilFree() }
    }

    @usableFromInline
    func waitUntilFree() {
        var backoff = Backoff()
        while bits.load(ordering: .acquiring) & Self.held != 0 { backoff.wait(for: bits) }
    }
}
