public import DeferredCore

/// A transform of results that can be cancelled before its closure begins.
@usableFromInline
protocol TaskTransform: Transform where Output == Result<NewSuccess, any Error> {
    associatedtype NewSuccess: Sendable
}

extension TaskTransform {
    @inlinable
    static var isCancellable: Bool { true }

    @inlinable
    static func cancelled() -> Output { .failure(CancellationError()) }

    @inlinable
    static func ended(_ owner: AnyObject?) { TaskState.end(owner) }
}

extension Task {
    /// Makes the task that an operator returns.
    @inlinable
    func derive<T: TaskTransform, E: Executor>(
        _ executor: E,
        _ transform: T,
        _ work: TaskWork = .opaque
    ) -> Task<T.NewSuccess> where T.Input == Result {
        let stage = Stage(executor, transform, upstream: storage)
        let control = TaskControl.derived(stage, work, from: control)
        // Before the stage starts, since it may end then and there.
        stage.owner = control.state
        storage.start(stage)
        return Task<T.NewSuccess>(stage, control)
    }
}

extension TaskControl {
    @usableFromInline
    static func derived(_ stage: FutureNode, _ work: TaskWork, from upstream: TaskControl?) -> TaskControl {
        TaskControl(.stage(stage), work, upstream: upstream)
    }
}
