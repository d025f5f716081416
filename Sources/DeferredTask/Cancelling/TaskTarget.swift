internal import DeferredCore

/// What the cancellation of a task stops first.
enum TaskTarget: CancellationTarget {
    /// A future that somebody else fills; how it ends is up to the cancellation handlers.
    case root(FutureNode)
    /// An operator's result, which ends at once if its closure has not begun.
    case stage(FutureNode)

    var isFinished: Bool {
        switch self {
        case .root(let future), .stage(let future): future.isFinished
        }
    }

    var hasFailed: Bool {
        switch self {
        case .root(let future), .stage(let future): future.hasFailed
        }
    }

    func stop() {
        if case .stage(let future) = self { future.abandon() }
    }
}
