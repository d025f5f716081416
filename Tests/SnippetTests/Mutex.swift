import DeferredCore

/// A `Mutex` that ThreadSanitizer understands on Linux, for the snippets, which use the standard library's.
///
/// A declaration of this module takes precedence over an imported one, so the snippets compile as they are printed.
struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let lock: Lock<Value>

    init(_ value: consuming sending Value) {
        lock = Lock(value)
    }

    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try lock.withLock(body)
    }
}
