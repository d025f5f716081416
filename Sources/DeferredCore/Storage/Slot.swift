public import Synchronization

/// Inline storage for a value that is not always present.
///
/// It replaces an optional, which is expensive in a generic class: deinitialisers of generic classes are never
/// specialised, and one that destroys an optional of a type parameter looks up the optional's metadata in a hash table
/// of the runtime, each time. That took longer than everything else a future does. A slot is plain memory; its owner
/// tracks whether it is full, and empties it.
@usableFromInline
package struct Slot: ~Copyable {
    // Three words hold most results without an allocation. They are atomics, though never accessed atomically, because
    // atomics don't move, so that the memory has a stable address.
    @usableFromInline let first = Atomic<UInt>(0)
    @usableFromInline let second = Atomic<UInt>(0)
    @usableFromInline let third = Atomic<UInt>(0)

    @inlinable
    init() {}

    /// Returns true if values of this type are stored in the slot itself, and false if they are allocated separately.
    @inlinable
    @inline(__always)
    package static func fits<Value>(_: Value.Type) -> Bool {
        MemoryLayout<Value>.size <= MemoryLayout<Slot>.size
            && MemoryLayout<Value>.alignment <= MemoryLayout<Slot>.alignment
    }

    /// Returns true if nothing has to be done to free a value of this type.
    @inlinable
    @inline(__always)
    package static func isTrivial<Value>(_: Value.Type) -> Bool { _isPOD(Value.self) && fits(Value.self) }

    @inlinable
    var address: UnsafeMutableRawPointer {
        withUnsafePointer(to: self) { UnsafeMutableRawPointer(mutating: $0) }
    }

    /// Returns a pointer to the value in a full slot.
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

    /// Empties the full slot, and returns the value.
    @inlinable
    func take<Value>(_: Value.Type) -> Value {
        let pointer = pointer(to: Value.self)
        defer { if !Self.fits(Value.self) { pointer.deallocate() } }
        return pointer.move()
    }

    /// Empties the full slot, and destroys the value.
    @inlinable
    @inline(__always)
    func drop<Value>(_: Value.Type) {
        let pointer = pointer(to: Value.self)
        pointer.deinitialize(count: 1)
        if !Self.fits(Value.self) { pointer.deallocate() }
    }
}
