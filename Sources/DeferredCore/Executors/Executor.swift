/// Decides where and when a closure runs.
///
/// ``FutureProtocol/upon(_:execute:)`` and the `on:` argument of every operator take an executor. Use the predefined
/// ones: `.immediate`, `.main`, `.any()`, `.global(qos:)` and any `DispatchQueue`; conform your own type to run
/// closures on an event loop or a thread pool.
///
/// ```swift
/// struct Inline: Executor {
///     func submit(_ body: @escaping @Sendable () -> Void) { body() }
/// }
/// ```
public protocol Executor: Sendable {
    /// Runs `body` once, now or later, on a thread of the executor's choice.
    ///
    /// An executor that drops `body` without running it also drops the handler or the result that depends on it.
    ///
    /// A handler keeps its executor, and a closure that waits keeps its handler. So an executor that stores closures
    /// itself has to run or to drop all of them before it is discarded; otherwise none of these is ever freed.
    func submit(_ body: @escaping @Sendable () -> Void)
}
