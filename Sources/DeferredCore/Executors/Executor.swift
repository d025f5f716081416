/// Decides where and when a closure runs.
///
/// ``FutureProtocol/upon(_:execute:)`` and the `on:` argument of every operator take one. Use the ready-made ones:
/// `.immediate`, `.main`, `.any()`, `.global(qos:)` and any `DispatchQueue`; conform a type of your own to reach an
/// event loop or a thread pool.
///
/// ```swift
/// struct Inline: Executor {
///     func submit(_ body: @escaping @Sendable () -> Void) { body() }
/// }
/// ```
public protocol Executor: Sendable {
    /// Runs `body` once, now or later, on a thread of the executor's choice.
    ///
    /// An executor that drops `body` unrun also drops the handler or the result that waits for it.
    func submit(_ body: @escaping @Sendable () -> Void)
}
