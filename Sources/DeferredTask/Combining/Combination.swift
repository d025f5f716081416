internal import DeferredCore

/// Shared state of the combining operators: a task that ends when its children decide.
///
/// The first call to `end` takes back the handlers on the children that have not ended, cancels those children, and
/// only then runs the task's own handlers.
final class Combination<Output: Sendable>: CancelledCombination {
    private let storage = ProducerStorage<Task<Output>.Result>()
    private let children: TaskNode
    /// A timer that runs alongside the children, until the end.
    private let timer = Lock<(running: ClockTimer?, isEnded: Bool)>((nil, false))

    /// - Parameters:
    ///   - expected: The number of children to come.
    ///   - isOpenEnded: Whether there may be more of them.
    init(expected: Int, isOpenEnded: Bool = false) {
        children = TaskNode(expected: expected, isOpenEnded: isOpenEnded)
        children.withLock { $0.children?.combination = self }
        // Whoever awaits the future raises the priority of the children.
        _ = storage.attachment.attach(children)
    }

    /// Creates the task.
    ///
    /// - Parameter endsAtOnce: Whether cancelling ends the task at once, rather than asking the children to stop.
    func task(endsAtOnce: Bool = false) -> Task<Output> {
        // The futures of the children keep this combination, and the task keeps the storage. When those futures are
        // lost, only a cancellation can end the task.
        Task(storage, .children(children)) { [weak self, weak storage, children] in
            if let self {
                if endsAtOnce { endCancelled() }
            } else {
                for child in children.cancelChildren() { child.cancel() }
                _ = storage?.fill(with: .failure(CancellationError()))
            }
        }
    }

    /// True once it is decided how the task ends: before the children are cancelled.
    var isEnded: Bool { timer.withLock { $0.isEnded } }

    /// Adds a child, and calls `body` with its result unless the task ends first. After the end, cancels the child.
    func add<Input>(_ task: Task<Input>, _ body: @escaping @Sendable (Task<Input>.Result) -> Void) {
        let handle = task.handle
        let key = children.started(handle, hasFailed: handle == nil && task.storage.peek()?.isFailure == true)
        let registration = task.storage.upon(.immediate) { [children] result in
            children.ended(key, hasSucceeded: !result.isFailure)
            body(result)
        }
        children.wait(for: key, with: registration)
    }

    /// Keeps a timer, to be cancelled at the end, in place of the previous one.
    func keep(_ new: ClockTimer) {
        let (isEnded, old) = timer.withLock { timer -> (Bool, ClockTimer?) in
            // One that has fired may have been followed by another already.
            guard !timer.isEnded, new.registration.isPending else { return (timer.isEnded, nil) }
            defer { timer.running = new }
            return (false, timer.running)
        }
        if isEnded { new.cancel() }
        // Released outside of the lock.
        withExtendedLifetime(old) {}
    }

    func endCancelled() { end(with: .failure(CancellationError())) }

    /// Ends the task, unless it has ended.
    func end(with result: Task<Output>.Result) {
        guard storage.claim() else { return }
        let running = timer.withLock { timer in
            timer.isEnded = true
            return timer.running.take()
        }
        running?.cancel()
        children.endChildren(cancelling: true)
        storage.fulfil(with: result)
    }
}
