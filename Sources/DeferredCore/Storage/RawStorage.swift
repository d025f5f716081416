/// Raw, inline memory for a value that is not always present.
///
/// It replaces an optional, which is expensive in a generic class: deinitialisers of generic classes are never
/// specialised, and one that destroys an optional of a type parameter looks up the optional's metadata in a hash table
/// of the runtime, each time. That took longer than everything else a future does. Its owner tracks whether it is full,
/// and empties it.
///
/// Three words hold most results without an allocation.
@frozen
@usableFromInline
@_rawLayout(size: 24, alignment: 8)
package struct RawStorage: ~Copyable {
    @inlinable
    init() {}

    /// Returns true if values of this type are stored inline, and false if they are allocated separately.
    @inlinable
    @inline(__always)
    package static func fits<Value>(_: Value.Type) -> Bool {
        MemoryLayout<Value>.size <= MemoryLayout<RawStorage>.size
            && MemoryLayout<Value>.alignment <= MemoryLayout<RawStorage>.alignment
    }

    /// Returns true if nothing has to be done to free a value of this type.
    @inlinable
    @inline(__always)
    package static func isTrivial<Value>(_: Value.Type) -> Bool { _isPOD(Value.self) && fits(Value.self) }

    /// Constant, since memory with a raw layout never moves.
    @inlinable
    var address: UnsafeMutableRawPointer {
        withUnsafePointer(to: self) { UnsafeMutableRawPointer(mutating: $0) }
    }

    /// Returns a pointer to the value, which is present.
    @inlinable
    func pointer<Value>(to: Value.Type) -> UnsafeMutablePointer<Value> {
        if Self.fits(Value.self) { return address.assumingMemoryBound(to: Value.self) }
        return address.load(as: UnsafeMutableRawPointer.self).assumingMemoryBound(to: Value.self)
    }

    /// Stores a value; there must be none.
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

    /// Takes the value out, which is present.
    @inlinable
    func take<Value>(_: Value.Type) -> Value {
        let pointer = pointer(to: Value.self)
        defer { if !Self.fits(Value.self) { pointer.deallocate() } }
        return pointer.move()
    }

    /// Destroys the value, which is present.
    @inlinable
    @inline(__always)
    func drop<Value>(_: Value.Type) {
        let pointer = pointer(to: Value.self)
        pointer.deinitialize(count: 1)
        if !Self.fits(Value.self) { pointer.deallocate() }
    }
}
