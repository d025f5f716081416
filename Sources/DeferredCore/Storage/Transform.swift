/// The operation of an operator on the value it waits for.
@usableFromInline
package protocol Transform<Input, Output>: Sendable {
    associatedtype Input: Sendable
    associatedtype Output: Sendable

    /// True if the stage can end before its closure begins; see `cancelled`.
    static var isCancellable: Bool { get }

    /// Returns true if an output of a cancellable stage is a failure.
    static func isFailure(_ output: Output) -> Bool

    /// Returns true if nothing has to be done to free an output.
    static func isTrivial(_ output: Output) -> Bool

    /// True if a cancellation ends the stage before its closure begins, instead of only cancelling its input.
    static var endsWhenCancelled: Bool { get }

    /// Returns the output of a stage that is cancelled before its closure begins, which is a failure.
    static func cancelled() -> Output

    /// Returns the output of a stage whose closure returned the stage's own future, which would wait for itself; `nil`
    /// if the output type has no failure to express this.
    static func circular() -> Output?

    /// Notifies the object that is attached to a cancellable stage. Called when the stage has its output, before
    /// handlers run.
    static func ended(_ attached: AnyObject)

    /// Notifies the object that is attached to a cancellable stage which is freed without an output.
    static func lost(_ attached: AnyObject)

    /// Returns true if somebody could cancel through the object that is attached to a cancellable stage, also without the
    /// stage.
    static func isObserved(_ attached: AnyObject) -> Bool

    /// Returns true if the object that is attached to a cancellable stage was told of a cancellation.
    static func isCancelled(_ attached: AnyObject) -> Bool

    /// Returns an output that doesn't need the closure, such as a forwarded failure. It is delivered without the
    /// executor.
    static func shortcut(_ input: Input) -> Output?

    /// Runs the user's closure.
    func apply(_ input: Input) -> Outcome<Output>
}

extension Transform {
    @inlinable
    package static var isCancellable: Bool { false }

    @inlinable
    package static func shortcut(_ input: Input) -> Output? { nil }

    @inlinable
    package static var endsWhenCancelled: Bool { isCancellable }

    // The defaults for transforms that are not cancellable.
    @inlinable
    package static func cancelled() -> Output {
        preconditionFailure("\(Self.self) cannot be cancelled")
    }

    @inlinable
    package static func isFailure(_ output: Output) -> Bool { false }

    @inlinable
    package static func isTrivial(_ output: Output) -> Bool { RawStorage.isTrivial(Output.self) }

    @inlinable
    package static func circular() -> Output? { nil }

    @inlinable
    package static func ended(_ attached: AnyObject) {}

    @inlinable
    package static func lost(_ attached: AnyObject) {}

    @inlinable
    package static func isObserved(_ attached: AnyObject) -> Bool { false }

    @inlinable
    package static func isCancelled(_ attached: AnyObject) -> Bool { false }
}

/// The outcome of a transform: a value, or a future to wait for.
@usableFromInline
package enum Outcome<Value: Sendable>: Sendable {
    case value(Value)
    case future(Future<Value>)
}
