/// A read-only future: the view of a ``Deferred``, or the result of an operator.
///
/// ```swift
/// func length(of text: Future<String>) -> Future<Int> {
///     text.map(\.count)
/// }
/// ```
///
/// A `Future` is a reference: copies share one value, and any of them keeps it alive.
@frozen
public struct Future<Value: Sendable>: FutureProtocol {
    @usableFromInline package let storage: FutureStorage<Value>

    @inlinable
    package init(_ storage: FutureStorage<Value>) {
        self.storage = storage
    }

    /// Creates a future that is already filled.
    @inlinable
    public init(value: Value) {
        storage = FutureStorage(filledWith: value)
    }

    /// Creates a read-only view of any future.
    @inlinable
    public init(_ other: some FutureProtocol<Value>) {
        self = other.future
    }

    /// A future that is never filled. Its handlers are freed when its last copy is dropped.
    @inlinable
    public static var never: Future { Future(FutureStorage()) }

    /// This future.
    @inlinable
    public var future: Future { self }

    /// Calls `body` once with the value. See ``FutureProtocol/upon(_:execute:)``.
    @inlinable
    @discardableResult
    public func upon(_ executor: some Executor, execute body: @escaping @Sendable (Value) -> Void) -> Registration {
        storage.upon(executor, body)
    }

    /// Returns the value, or `nil` if the future is not filled yet; runs handlers that this thread has put off first.
    ///
    /// See ``Deferred/peek()``.
    ///
    /// - Complexity: O(1): one acquiring load if it is filled.
    @inlinable
    public func peek() -> Value? { storage.look() }
}

/// Futures are equal if they are copies of one future. Their values are not compared.
extension Future: Hashable {
    /// Returns a Boolean value that indicates whether both are the same future.
    public static func == (one: Future, other: Future) -> Bool { one.storage === other.storage }

    /// Feeds the identity of the future into `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}
