public import Synchronization

/// A `Mutex` that ThreadSanitizer understands on Linux.
///
/// There, a contended `Mutex` is handed over inside the kernel, which the sanitizer can't observe, so it reports false
/// races between two holders. A releasing store by one holder and an acquiring load by the next, in instrumented code,
/// show it the ordering; they cost two plain moves.
///
/// In debug builds, taking it is a step that a test can hold up; see ``Interleaving``. No such step may be taken while it
/// is held.
@frozen
@usableFromInline
package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let handover = Atomic(false)

    @inlinable
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
        step()
        #endif
        return try mutex.withLock { value throws(Failure) in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }

    #if DEBUG
    @usableFromInline
    borrowing func step() {
        Interleaving.step(.update, withUnsafePointer(to: handover) { UInt(bitPattern: $0) })
    }
    #endif
}
