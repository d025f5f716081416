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
