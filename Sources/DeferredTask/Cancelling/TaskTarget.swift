internal import DeferredCore

/// What the cancellation of a task stops first.
enum TaskTarget: CancellationTarget {
    /// A future that its producer fills for certain; how it ends is up to the cancellation handlers.
    case root(FutureNode)
    /// A future that its producer may drop unfilled.
    case foreign(Weak)
    /// An operator's result, which ends at once if its closure has not begun.
    case stage(Weak)

    /// A future that isn't kept: handlers behind it may keep this.
    struct Weak: Sendable {
        weak var future: FutureNode?
    }

    /// The future, if it is still there.
    var future: FutureNode? {
        switch self {
        case .root(let future): future
        case .foreign(let reference), .stage(let reference): reference.future
        }
    }

    var isFinished: Bool { future?.isFinished ?? false }

    var hasFailed: Bool { future?.hasFailed ?? false }

    func stop() {
        if case .stage(let reference) = self { reference.future?.abandon() }
    }
}
