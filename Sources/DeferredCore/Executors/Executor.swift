public import Dispatch

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

/// Runs closures inline: on the thread that fills the future or, if it is already filled, on the one that registers.
///
/// This is the cheapest executor, and the default of the operators. Keep its closures short: they hold up the thread
/// that fills.
@frozen
public struct ImmediateExecutor: Executor {
    /// Creates an immediate executor; all of them are equivalent.
    @inlinable
    public init() {}

    /// Runs `body` before returning.
    @inlinable
    public func submit(_ body: @escaping @Sendable () -> Void) {
        body()
    }
}

extension Executor where Self == ImmediateExecutor {
    /// An executor that runs closures inline, on the thread that fills the future.
    ///
    /// That thread waits for them. A client over libcurl may deliver results on the thread that all of its requests run
    /// on: a closure that blocks stalls them, and one that waits there for another of them, or for the client's
    /// shutdown, waits in vain. Use `.any()` or a queue for such closures. Debug builds report the first wait there
    /// through ``DeferredDiagnostics/blockedHandler``.
    @inlinable
    public static var immediate: ImmediateExecutor { ImmediateExecutor() }
}

/// Runs closures on the main actor, and accepts closures that are isolated to it.
///
/// Deliberately not an ``Executor``: separate overloads of `upon`, `map` and `flatMap` take `@MainActor` closures,
/// which may touch main-actor state without `await`. The closures are submitted to the main queue, which serves the
/// main actor, so they keep their order.
///
/// ```swift
/// answer.upon(.mainActor) { label.text = $0 }
/// ```
public struct MainActorExecutor: Sendable {
    /// An executor that runs closures on the main actor.
    public static var mainActor: MainActorExecutor { MainActorExecutor() }

    private init() {}
}

/// A queue runs each closure as a separate block; a serial queue keeps their order.
extension DispatchQueue: Executor {
    /// Enqueues `body` with `async`.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        async(execute: body)
    }
}

extension Executor where Self == DispatchQueue {
    /// The main queue. For closures that touch `@MainActor` state, use `.mainActor` instead.
    public static var main: DispatchQueue { DispatchQueue.main }

    /// A background queue, for closures that merely have to run off the thread that fills the future.
    public static func any() -> DispatchQueue { DispatchQueue.global() }

    /// Returns the global concurrent queue for a quality of service.
    public static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue {
        DispatchQueue.global(qos: qos)
    }
}
