/// What an operator does with the value it waits for.
@usableFromInline
package protocol Transform<Input, Output>: Sendable {
    associatedtype Input: Sendable
    associatedtype Output: Sendable

    /// Whether the stage can end before its closure begins; see `cancelled`.
    static var isCancellable: Bool { get }

    /// Whether an output of a cancellable stage is a failure.
    static func isFailure(_ output: Output) -> Bool

    /// Whether a cancellation ends the stage before its closure begins, rather than being left to what it waits for.
    static var endsWhenCancelled: Bool { get }

    /// The output of a stage that is cancelled before its closure begins, which is a failure.
    static func cancelled() -> Output

    /// The output of a stage whose closure returned the stage's own future, which would wait for itself; `nil` if that
    /// can't be told from other values.
    static func circular() -> Output?

    /// Called when a cancellable stage has its output, before handlers run, with what is attached to the stage.
    static func ended(_ attached: AnyObject)

    /// An output that needs no closure, such as a failure that passes by: delivered without waiting for the executor.
    static func shortcut(_ input: Input) -> Output?

    /// Runs the user's closure.
    func apply(_ input: Input) -> Outcome<Output>
}

extension Transform {
    @inlinable
    package static var endsWhenCancelled: Bool { isCancellable }

    // For those that are not cancellable.
    @inlinable
    package static func cancelled() -> Output {
        preconditionFailure("\(Self.self) cannot be cancelled")
    }

    @inlinable
    package static func isFailure(_ output: Output) -> Bool { false }

    @inlinable
    package static func circular() -> Output? { nil }

    @inlinable
    package static func ended(_ attached: AnyObject) {}
}

/// What a transform comes to: a value, or a future to wait for.
@usableFromInline
package enum Outcome<Value: Sendable>: Sendable {
    case value(Value)
    case future(Future<Value>)
}
