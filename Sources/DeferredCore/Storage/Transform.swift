/// What an operator does with the value it waits for.
@usableFromInline
package protocol Transform<Input, Output>: Sendable {
    associatedtype Input: Sendable
    associatedtype Output: Sendable

    /// Whether `Stage.cancel(with:)` may be called.
    static var isCancellable: Bool { get }

    /// An output that needs no closure, such as a failure that passes by: delivered without waiting for the executor.
    static func shortcut(_ input: Input) -> Output?

    /// Runs the user's closure.
    func apply(_ input: Input) -> Outcome<Output>
}

/// What a transform comes to: a value, or a future to wait for.
@usableFromInline
package enum Outcome<Value: Sendable>: Sendable {
    case value(Value)
    case future(Future<Value>)
}
