/// A future that you fill.
///
/// Create one where a value will be produced, hand out its ``future``, and call ``fill(with:)`` when the value is
/// available: from any thread, as often as you like; the first call wins.
///
/// ```swift
/// let answer = Deferred<Int>()
/// answer.upon(.immediate) { print($0) }
/// answer.fill(with: 42)  // prints 42
/// ```
///
/// A `Deferred` is a reference: copies share one value. When the last copy is dropped unfilled, the waiting handlers
/// are freed without being run (see ``DeferredDiagnostics``).
///
/// Filling, registering and reading take no lock: the state is one atomic word.
@frozen
public struct Deferred<Value: Sendable>: FutureProtocol {
    @usableFromInline let storage: FutureStorage<Value>

    /// Creates an unfilled future.
    ///
    /// - Parameters:
    ///   - file: The file that ``DeferredDiagnostics`` reports if the future is dropped unfilled; debug builds only.
    ///   - line: The line that is reported with `file`.
    @inlinable
    public init(file: StaticString = #fileID, line: UInt = #line) {
        storage = FutureStorage()
        #if DEBUG
        storage.origin = DeferredDiagnostics.Unfilled(file: file, line: line)
        #endif
    }

    /// Creates a future that is already filled.
    @inlinable
    public init(filledWith value: Value) {
        storage = FutureStorage(filledWith: value)
    }

    /// A read-only view to hand out. It shares the value, and keeps it alive.
    @inlinable
    public var future: Future<Value> { Future(storage) }

    /// Fills the future, unless it is filled, and submits its handlers.
    ///
    /// When this returns true, handlers with the `.immediate` executor have run, and so have the operators that depend
    /// on them. If handlers fill futures whose handlers fill futures, those more than 32 levels deep run before the
    /// outermost call returns, or when code on this thread reads an unfilled future.
    ///
    /// The future is filled when this returns, whatever the result: a call that loses the race waits the few
    /// instructions until the winner has stored the value.
    ///
    /// - Returns: True for exactly one caller, ever.
    /// - Complexity: O(*n*) in the number of handlers. Takes no lock.
    @inlinable
    @discardableResult
    public func fill(with value: Value) -> Bool {
        storage.fill(with: value)
    }

    /// Fills the future, and stops the program if it was filled before.
    ///
    /// Use it where the code guarantees a single producer.
    @inlinable
    public func mustFill(with value: Value, file: StaticString = #fileID, line: UInt = #line) {
        if !storage.fill(with: value) {
            fatalError(
                "this Deferred is already filled; use fill(with:) if several callers may fill it",
                file: file,
                line: line
            )
        }
    }

    /// Calls `body` once with the value. See ``FutureProtocol/upon(_:execute:)``.
    @inlinable
    @discardableResult
    public func upon(_ executor: some Executor, execute body: @escaping @Sendable (Value) -> Void) -> Registration {
        storage.upon(executor, body)
    }

    /// Returns the value, or `nil` if the future is not filled yet; runs handlers that this thread has put off first.
    ///
    /// A thread puts off handlers that are nested more than 32 levels deep. Don't read an unfilled future while you hold
    /// a lock that a handler may take.
    ///
    /// - Complexity: O(1): one acquiring load if it is filled.
    @inlinable
    public func peek() -> Value? { storage.look() }
}

extension Deferred where Value == Void {
    /// Fills the future, unless it is filled. See ``fill(with:)``.
    @inlinable
    @discardableResult
    public func fill() -> Bool { fill(with: ()) }
}

/// Futures are equal if they are copies of one future. Their values are not compared.
extension Deferred: Hashable {
    /// Returns a Boolean value that indicates whether filling one future fills the other.
    public static func == (one: Deferred, other: Deferred) -> Bool { one.storage === other.storage }

    /// Feeds the identity of the future into `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}
