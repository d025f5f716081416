/// Runs closures on the main actor, and lets the compiler know.
///
/// Deliberately not an ``Executor``: overloads of `upon`, `map` and `flatMap` of its own take `@MainActor` closures, so
/// that these may touch main-actor state without `await`. They go by way of the main queue, which serves the main actor,
/// and so keep their order.
///
/// ```swift
/// answer.upon(.mainActor) { label.text = $0 }
/// ```
public struct MainActorExecutor: Sendable {
    /// The main actor.
    public static var mainActor: MainActorExecutor { MainActorExecutor() }

    private init() {}
}
