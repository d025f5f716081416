public import DeferredCore

/// What the cancellation of a task stops first, and what tells the control of the end.
enum TaskTarget: CancellationTarget {
    /// A future that somebody else fills; how it ends is up to the cancellation handlers.
    case root(FutureNode, RootEnd)
    /// An operator's result, which ends at once if its closure has not begun.
    case stage(FutureNode)

    var isFinished: Bool {
        switch self {
        case .root(let future, _), .stage(let future): future.isFinished
        }
    }

    func stop() {
        if case .stage(let future) = self { future.abandon() }
    }

    /// Takes back what tells the control, which goes, of the end.
    func unregister() {
        switch self {
        case .root(_, let end): end.unregister()
        case .stage: break
        }
    }
}

/// Tells the control of a root task when its future is filled.
final class RootEnd: Sendable {
    private let registration = Lock<Registration?>(nil)

    /// Ends `control` when `future` is filled.
    func tie<Value>(_ future: FutureStorage<Value>, to control: TaskControl) {
        let new = Future(future).upon(.immediate) { [owner = control.owner] _ in TaskControl.ended(owner) }
        registration.withLock { $0 = new }
    }

    func unregister() {
        registration.withLock { $0.take() }?.cancel()
    }
}

extension TaskControl {
    /// Ends the control that `owner` refers to, if it is still there.
    @usableFromInline
    package static func ended(_ owner: BackReference?) {
        owner?.use(as: TaskControl.self) { $0.end() }?.release()
    }
}
