public import Synchronization

/// Room inside an object for a value that is not there all the time.
///
/// An optional would do, but for its price in a generic class: deinitialisers of these are never specialised, and one
/// that has to destroy an optional of a type parameter looks up the optional's metadata in a hash table of the runtime,
/// each time. That took longer than all else a future does. A slot is plain memory; its owner remembers whether it is
/// full, and empties it.
@usableFromInline
struct Slot: ~Copyable {
    // Three words, which hold most results without an allocation. Atomics, though never used as such: they stay in
    // place, so that the memory has an address.
    @usableFromInline let first = Atomic<UInt>(0)
    @usableFromInline let second = Atomic<UInt>(0)
    @usableFromInline let third = Atomic<UInt>(0)

    @inlinable
    init() {}

    /// Whether values of this type are kept in the slot itself, or else in memory of their own.
    @inlinable
    @inline(__always)
    static func fits<Value>(_: Value.Type) -> Bool {
        MemoryLayout<Value>.size <= MemoryLayout<Slot>.size
            && MemoryLayout<Value>.alignment <= MemoryLayout<Slot>.alignment
    }

    @inlinable
    var address: UnsafeMutableRawPointer {
        withUnsafePointer(to: self) { UnsafeMutableRawPointer(mutating: $0) }
    }

    /// Where the value is, in a full slot.
    @inlinable
    func pointer<Value>(to: Value.Type) -> UnsafeMutablePointer<Value> {
        if Self.fits(Value.self) { return address.assumingMemoryBound(to: Value.self) }
        return address.load(as: UnsafeMutableRawPointer.self).assumingMemoryBound(to: Value.self)
    }

    /// Fills the empty slot.
    @inlinable
    func put<Value>(_ value: consuming Value) {
        if Self.fits(Value.self) {
            address.initializeMemory(as: Value.self, to: value)
        } else {
            let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            memory.initialize(to: value)
            address.storeBytes(of: UnsafeMutableRawPointer(memory), as: UnsafeMutableRawPointer.self)
        }
    }

    /// Empties the full slot.
    @inlinable
    func take<Value>(_: Value.Type) -> Value {
        let pointer = pointer(to: Value.self)
        defer { if !Self.fits(Value.self) { pointer.deallocate() } }
        return pointer.move()
    }

    /// Empties the full slot, and lets go of what was in it.
    @inlinable
    @inline(__always)
    func drop<Value>(_: Value.Type) {
        // The one question to a type that even unspecialised code gets answered for nothing.
        if _isPOD(Value.self) && Self.fits(Value.self) { return }
        let pointer = pointer(to: Value.self)
        pointer.deinitialize(count: 1)
        if !Self.fits(Value.self) { pointer.deallocate() }
    }
}
