public import Synchronization

/// A `Mutex` that ThreadSanitizer understands on Linux.
///
/// There, a contended `Mutex` changes hands inside the kernel, where the sanitizer sees nothing, so that it reports races
/// between two holders that never were. A release by the one and an acquisition by the other, in instrumented code, tell
/// it what happened; they cost two plain moves.
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
        try mutex.withLock { value throws(Failure) in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
