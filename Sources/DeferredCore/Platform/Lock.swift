internal import Synchronization

/// A `Mutex` that ThreadSanitizer understands on Linux.
///
/// There, a contended `Mutex` changes hands inside the kernel, where the sanitizer sees nothing, so that it reports races
/// between two holders that never were. A release by the one and an acquisition by the other, in instrumented code, tell
/// it what happened; they cost two plain moves.
package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let handover = Atomic(false)

    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

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
