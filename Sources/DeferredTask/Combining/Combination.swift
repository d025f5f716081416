internal import DeferredCore

/// A task that is decided by others: the storage behind the combining operators.
///
/// Whoever ends it first takes back the handlers of those that have not ended, cancels them, and only then lets its own
/// handlers run.
final class Combination<Output: Sendable>: Sendable {
    private let storage = FutureStorage<Task<Output>.Result>()
    private let children: ChildTasks
    /// What runs now beside the children, until the end.
    private let timer = Lock<(running: ClockTimer?, isEnded: Bool)>((nil, false))

    /// - Parameter expected: How many children there will be.
    init(expected: Int) {
        children = ChildTasks(expected: expected)
    }

    /// The task.
    ///
    /// - Parameter endsAtOnce: Whether cancelling ends it, rather than asking the children to.
    func task(endsAtOnce: Bool = false) -> Task<Output> {
        // The futures of the children keep this, and the task the storage. When those futures are lost, nobody but a
        // cancellation ends the task.
        Task(storage, .children(children)) { [weak self, weak storage, children] in
            if let self {
                if endsAtOnce { end(with: .failure(CancellationError())) }
            } else {
                for child in children.cancel() { child.cancel() }
                _ = storage?.fill(with: .failure(CancellationError()))
            }
        }
    }

    var isEnded: Bool { storage.isFinished }

    /// Adds a child, and calls `body` with its result unless the end comes first. After the end, cancels it.
    func add<Input>(_ task: Task<Input>, _ body: @escaping @Sendable (Task<Input>.Result) -> Void) {
        let key = children.started(task.control)
        let registration = task.storage.upon(.immediate) { [children] result in
            if case .failure = result { children.ended(key, hasFailed: true) } else { children.ended(key, hasFailed: false) }
            body(result)
        }
        children.wait(for: key, with: registration)
    }

    /// Keeps a timer, to be cancelled at the end, in place of the one before.
    func keep(_ new: ClockTimer) {
        let (isEnded, old) = timer.withLock { timer in
            defer { timer.running = timer.isEnded ? nil : new }
            return (timer.isEnded, timer.running)
        }
        if isEnded { new.cancel() }
        // Let go outside of the lock.
        withExtendedLifetime(old) {}
    }

    /// Ends the task, unless it has ended.
    func end(with result: Task<Output>.Result) {
        guard storage.claim() else { return }
        let running = timer.withLock { timer in
            timer.isEnded = true
            return timer.running.take()
        }
        running?.cancel()
        children.end(cancelling: true)
        storage.fulfil(with: result)
    }
}
