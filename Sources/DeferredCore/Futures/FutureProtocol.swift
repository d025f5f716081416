/// A value that is there, or will be: written once, read by many.
///
/// ``Deferred`` and ``Future`` conform. A type of your own that implements ``upon(_:execute:)`` and ``peek()`` gets every
/// operator. It must call each handler exactly once, in order of registration, after the value can be read with `peek`,
/// and never again after its registration was cancelled.
///
/// All members are safe to use from any thread.
public protocol FutureProtocol<Value>: Sendable {
    /// What the future is filled with.
    associatedtype Value: Sendable

    /// Calls `body` with the value, once: on `executor` when the future is filled, or submitted at once if it is.
    ///
    /// Handlers are submitted in order of registration. `body` may itself fill, register, cancel, or drop the future.
    ///
    /// - Parameters:
    ///   - executor: Where `body` runs. With `.immediate`, that is the thread that fills the future.
    ///   - body: Kept until it has run, is taken back, or the unfilled future goes away.
    /// - Returns: What takes the handler back. Ignore it if that is never necessary.
    /// - Complexity: O(1). Takes no lock.
    @discardableResult
    func upon(_ executor: some Executor, execute body: @escaping @Sendable (Value) -> Void) -> Registration

    /// The value, or `nil` if it is not there yet. Does not wait.
    ///
    /// - Complexity: O(1): one load.
    func peek() -> Value?

    /// The same future as a read-only ``Future``.
    ///
    /// A type that implements only the other two requirements need not provide it.
    var future: Future<Value> { get }
}

extension FutureProtocol {
    /// A ``Future`` that follows this one.
    public var future: Future<Value> {
        if let value = peek() { return Future(value: value) }
        let storage = FutureStorage<Value>()
        upon(.immediate) { storage.fulfil(with: $0) }
        return Future(storage)
    }

    /// Whether the value is there.
    ///
    /// - Complexity: O(1): one load.
    @inlinable
    public var isFilled: Bool { peek() != nil }
}
