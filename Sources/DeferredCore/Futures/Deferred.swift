/// A future that you fill.
///
/// Make one where a value will be produced, hand out its ``future``, and ``fill(with:)`` it when the value is there:
/// from any thread, as often as you like; the first wins.
///
/// ```swift
/// let answer = Deferred<Int>()
/// answer.upon(.immediate) { print($0) }
/// answer.fill(with: 42)  // prints 42
/// ```
///
/// A `Deferred` is a reference: copies share one value. When the last copy goes unfilled, the waiting handlers are freed
/// without being run (see ``DeferredDiagnostics``).
///
/// Filling, registering and reading take no lock: one atomic word decides.
public struct Deferred<Value: Sendable>: FutureProtocol {
    @usableFromInline let storage: FutureStorage<Value>

    /// Creates an unfilled future.
    ///
    /// - Parameters:
    ///   - file: Named by ``DeferredDiagnostics`` if this goes unfilled; debug builds only.
    ///   - line: As `file`.
    @inlinable
    public init(file: StaticString = #fileID, line: UInt = #line) {
        storage = FutureStorage()
        #if DEBUG
        storage.origin = DeferredDiagnostics.Origin(file: file, line: line)
        #endif
    }

    /// Creates a future that is filled already.
    @inlinable
    public init(filledWith value: Value) {
        storage = FutureStorage(filledWith: value)
    }

    /// The read-only view to hand out. It shares the value, and keeps it alive.
    @inlinable
    public var future: Future<Value> { Future(storage) }

    /// Fills the future, unless it is filled, and submits its handlers.
    ///
    /// Handlers with the `.immediate` executor have run when this returns true, as have the operators behind them. Where
    /// handlers fill futures whose handlers fill futures, those more than 32 levels deep run before the outermost call
    /// returns, or when somebody on this thread looks at an unfilled future.
    /// Whatever it returns, the future is filled then: a call that loses against one that is under way waits the few
    /// instructions that take the value in.
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
    /// For producers that can prove they are the only one.
    @inlinable
    public func mustFill(with value: Value, file: StaticString = #fileID, line: UInt = #line) {
        if !storage.fill(with: value) {
            fatalError("this Deferred is filled already; use fill(with:) where several may try", file: file, line: line)
        }
    }

    /// Calls `body` with the value, once. See ``FutureProtocol/upon(_:execute:)``.
    @inlinable
    @discardableResult
    public func upon(_ executor: some Executor, execute body: @escaping @Sendable (Value) -> Void) -> Registration {
        storage.upon(executor, body)
    }

    /// The value, or `nil` if it is not there yet.
    ///
    /// - Complexity: O(1): one acquiring load.
    @inlinable
    public func peek() -> Value? { storage.look() }

    /// Whether the value is there.
    ///
    /// - Complexity: O(1): one load.
    @inlinable
    public var isFilled: Bool { storage.isFilledForAll }
}

extension Deferred where Value == Void {
    /// Fills the future, unless it is filled. See ``fill(with:)``.
    @inlinable
    @discardableResult
    public func fill() -> Bool { fill(with: ()) }
}
