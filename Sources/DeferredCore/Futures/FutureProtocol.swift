/// A value that is available now or later: written once, read by many.
///
/// ``Deferred`` and ``Future`` conform. Your own type gets every operator by implementing ``upon(_:execute:)`` and
/// ``peek()``. It must call each handler exactly once, in order of registration if it waited, after the value can be
/// read with `peek`, and never after the handler's registration was cancelled.
///
/// Each member that takes an executor also takes `.mainActor`, for a closure that is isolated to the main actor. All members
/// are safe to use from any thread.
public protocol FutureProtocol<Value>: Sendable {
    /// The type of the value that fills the future.
    associatedtype Value: Sendable

    /// Calls `body` once with the value, on `executor`: when the future is filled, or at once if it is already filled.
    ///
    /// Handlers that wait when the future is filled are submitted in order of registration. One that is registered later is
    /// submitted at once, even if some of these are still to come: an `.immediate` handler that registers another one with
    /// the same future sees that run before older ones. `body` may itself fill futures, register or cancel handlers, or drop
    /// the future.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `body`. With `.immediate`, it runs on the thread that fills the future.
    ///   - body: The handler, retained until it has run or is cancelled, or the future is dropped unfilled.
    /// - Returns: A registration that can cancel the handler. Ignore it if that is never necessary.
    /// - Complexity: O(1). Takes no lock.
    @discardableResult
    func upon(_ executor: some Executor, execute body: @escaping @Sendable (Value) -> Void) -> Registration

    /// Returns the value, or `nil` if the future is not filled yet. Does not wait.
    ///
    /// The library's own futures run handlers that this thread has put off first; see ``Deferred/peek()``.
    ///
    /// - Complexity: O(1): one acquiring load if it is filled.
    func peek() -> Value?

    /// The same future as a read-only ``Future``.
    ///
    /// A default implementation is provided.
    var future: Future<Value> { get }
}

extension FutureProtocol {
    /// A ``Future`` that is filled with the value of this one.
    public var future: Future<Value> {
        if let value = peek() { return Future(value: value) }
        return Future(observed.storage)
    }

    /// A Boolean value that indicates whether the future is filled.
    ///
    /// The library's own futures run handlers that this thread has put off first; see ``Deferred/peek()``.
    ///
    /// - Complexity: O(1): one acquiring load if it is filled.
    @inlinable
    public var isFilled: Bool { peek() != nil }
}
