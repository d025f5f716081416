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

    /// Parts the future from its control, which goes.
    func disown() {
        switch self {
        case .root(_, let end): end.disown()
        case .stage(let future): future.disown()
        }
    }
}

/// Tells the control of a root task when its future is filled.
///
/// Not part of the control, for the handlers of the future keep it.
final class RootEnd: Sendable {
    private let owner = BackReference()
    private let registration = Lock<Registration?>(nil)

    /// Ends `control` when `future` is filled.
    func tie<Value>(_ future: FutureStorage<Value>, to control: TaskControl) {
        owner.tie(to: control)
        let new = Future(future).upon(.immediate) { [self] _ in TaskControl.ended(owner) }
        registration.withLock { $0 = new }
    }

    func disown() {
        owner.cut()
        registration.withLock { $0.take() }?.cancel()
    }
}

extension TaskControl {
    /// Ends the control that `owner` refers to, if it is still there.
    @usableFromInline
    package static func ended(_ owner: borrowing BackReference) {
        owner.use(as: TaskControl.self) { $0.end() }?.release()
    }
}
