package import DeferredCore
package import DeferredTask
internal import Synchronization

/// The state of one execution, which outlives the references that loaders have to it.
///
/// A loader refers to it through the ``HTTPTask`` that it was given, and all others through separate tasks. So the
/// execution can tell when the last loader has released it.
///
/// An execution and the children that were made for it refer to each other, until either of them completes.
package final class HTTPExecution: ChildExecution, Sendable {
    private typealias Cancellation = FutureStorage<CancellationToken.Ending>

    private struct State {
        /// The task that this is a child of, whose loader waits for the result, and its closure for that.
        var parent: HTTPTask?
        var continuing: (@Sendable (HTTPResult) -> Void)?
        var wait = Wait.nobody
        /// The cancellation handlers, created for the first one.
        var cancellation: Cancellation?
        /// The children that were passed on for this one and have not completed.
        var children = ChildExecutions()
        /// Created on first use.
        var reporter: ProgressReporter?
        /// Called with the events between the start and the end.
        var observers: [Observer] = []
        /// The owner of an execution for several tasks, until the result.
        var shared: SharedExecution?

        /// Returns what a cancellation is to reach, and keeps nothing of it.
        mutating func cancel() -> (cancellation: Cancellation?, children: ChildExecutions) {
            defer { (cancellation, children) = (nil, ChildExecutions()) }
            return (cancellation, children)
        }

        /// Returns what the result is to reach, and keeps nothing of it.
        mutating func end(with result: HTTPResult) -> Ended {
            defer {
                (parent, continuing, cancellation, children, shared) = (nil, nil, nil, ChildExecutions(), nil)
                if case .future = wait {} else { wait = .over(result) }
            }
            return Ended(
                parent: parent,
                continuing: continuing,
                wait: wait,
                cancellation: cancellation,
                children: children,
                shared: shared
            )
        }
    }

    /// The parts of a state that a result is to reach, and that are released outside of the lock.
    private struct Ended {
        let parent: HTTPTask?
        let continuing: (@Sendable (HTTPResult) -> Void)?
        let wait: Wait
        let cancellation: Cancellation?
        let children: ChildExecutions
        let shared: SharedExecution?
    }

    /// A loader's closure for the events of the root, until its own execution is complete.
    private struct Observer: Sendable {
        weak var execution: HTTPExecution?
        let tell: @Sendable (Log.Event.Kind) -> Void
    }

    /// The one that waits for the result: children complete with few or no handlers, and need no future for them.
    private enum Wait: Sendable {
        case nobody
        /// A loader that was the first to wait, and needs no registration.
        case loader(@Sendable (HTTPResult) -> Void)
        /// All who have asked for the future, before the result or after it.
        case future(FutureStorage<HTTPResult>)
        /// There is a result, and nobody has asked for its future.
        case over(HTTPResult)
    }

    let request: HTTPRequest
    /// That of the execution that a caller loaded.
    let identity: Identity
    /// Those of the code that created a root.
    private let locals: TaskLocals?
    private let state: Lock<State>

    // The first two are set under the lock.
    private let wasCancelled = Atomic(false)
    private let wasCompleted = Atomic(false)
    /// True once a reset is about to cancel this.
    private let isStopping = Atomic(false)

    /// The execution that a caller loaded, from which this descends; `nil` if it is this one.
    private let ancestor: HTTPExecution?

    private var root: HTTPExecution { ancestor ?? self }

    /// - Parameter handler: Called with the result, before the completion handlers.
    init(_ request: HTTPRequest, whenEnded handler: (@Sendable (HTTPResult) -> Void)? = nil) {
        self.request = request
        identity = Identity()
        locals = TaskLocals.ofRunningTask()
        ancestor = nil
        let wait: Wait = if let handler { .loader(handler) } else { .nobody }
        state = Lock(State(wait: wait))
    }

    /// Creates an execution of the same request, which others can join.
    ///
    /// - Parameter shared: Passes the result and the progress on.
    init(sharedBy first: HTTPTask, in shared: SharedExecution) {
        request = first.request
        identity = first.execution.identity
        locals = first.execution.root.locals
        ancestor = nil
        state = Lock(State(shared: shared))
    }

    /// - Parameters:
    ///   - parent: The task that this is a child of.
    ///   - continuing: Called with the result, after the handlers that were added further down the chain; `nil` to
    ///     complete `parent` with it.
    init(
        _ request: HTTPRequest,
        childOf parent: HTTPTask,
        _ continuing: (@Sendable (HTTPResult) -> Void)?
    ) {
        self.request = request
        identity = parent.execution.identity
        locals = nil
        ancestor = parent.execution.root
        state = Lock(State(parent: parent, continuing: continuing))
    }

    // MARK: - Observing

    /// The future of the result.
    package var completion: FutureStorage<HTTPResult> {
        state.withLock { state in
            let completion: FutureStorage<HTTPResult>
            switch state.wait {
            case .future(let completion): return completion
            case .nobody: completion = FutureStorage()
            case .over(let result): completion = FutureStorage(filledWith: result)
            case .loader(let handler):
                completion = FutureStorage()
                completion.upon(.immediate, handler)
            }
            state.wait = .future(completion)
            return completion
        }
    }

    /// Calls `handler` with the result, in turn with the completion handlers. It can't be removed, and the first one costs
    /// no future.
    package func whenEnded(_ handler: @escaping @Sendable (HTTPResult) -> Void) {
        let isFirst = state.withLock { state in
            guard case .nobody = state.wait else { return false }
            state.wait = .loader(handler)
            return true
        }
        if !isFirst { completion.upon(.immediate, handler) }
    }

    /// The reporter of a root's progress, if there has been a report.
    var existingReporter: ProgressReporter? { state.withLock { $0.reporter } }

    /// True if this has been completed. Its handlers may still be running.
    // Acquires nothing: the result comes from `completion`.
    var isComplete: Bool { wasCompleted.load(ordering: .relaxed) }

    /// The reporter of the root's progress in bytes.
    package var reporter: ProgressReporter {
        let (reporter, shared) = root.state.withLock { state in
            if let reporter = state.reporter { return (reporter, SharedExecution?.none) }
            let reporter = ProgressReporter(unit: .bytes)
            state.reporter = reporter
            return (reporter, state.shared)
        }
        shared?.follow(reporter)
        return reporter
    }

    /// Reports an event of a child to the observers of the root.
    func tell(_ event: Log.Event.Kind) {
        // A log after a retry sees one attempt: the events of later attempts are not its own.
        for observer in root.state.withLock({ $0.observers }) where observer.execution?.isComplete == false {
            observer.tell(event)
        }
    }

    /// Calls `body` with the events of the root until this is complete. It is released once another one is added then.
    func watch(_ body: @escaping @Sendable (Log.Event.Kind) -> Void) {
        // Each attempt of a retry before a log adds an observer; those of earlier attempts are dropped. What they hold, and
        // the executions, are released outside of the lock.
        let known = root.state.withLock { state in
            let known = state.observers.map { (observer: $0, execution: $0.execution) }
            state.observers = known.filter { $0.execution?.isComplete == false }.map(\.observer)
            state.observers.append(Observer(execution: self, tell: body))
            return known
        }
        withExtendedLifetime(known) {}
    }

    // MARK: - Passing on

    /// Calls a closure that sends something later than in `load`, with the task-locals of the root.
    package func later(_ body: () -> Void) { root.locals.restore(body) }

    /// Makes `child` be cancelled when this is cancelled or completes first; returns false if either has happened.
    func adopt(_ child: some ChildExecution) -> Bool {
        state.withLock { state in
            if isCancelled || isComplete { return false }
            state.children.add(child)
            return true
        }
    }

    /// Releases a child that has completed.
    private func forget(_ child: HTTPExecution) {
        // The child is released outside of the lock.
        let gone = state.withLock { $0.children.remove(child) }
        withExtendedLifetime(gone) {}
    }

    // MARK: - Cancelling

    // Acquires nothing: code that needs to see earlier writes of the cancelling thread has to synchronise with it
    // itself.
    var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }

    /// True if this is cancelled, or about to be by a reset.
    var isToStop: Bool { isCancelled || root.isStopping.load(ordering: .relaxed) }

    /// Keeps the root from being passed on, before a reset cancels one request after the other.
    // Relaxed: one that another thread passes on at the same moment could as well have been passed on before.
    func prepareToStop() { root.isStopping.store(true, ordering: .relaxed) }

    package func cancel() {
        let told = state.withLock { state -> (cancellation: Cancellation?, children: ChildExecutions)? in
            if isCancelled || isComplete { return nil }
            wasCancelled.store(true, ordering: .relaxed)
            return state.cancel()
        }
        guard let told else { return }
        told.children.cancel(for: self)
        _ = told.cancellation?.fillNewestFirst(with: .cancelled)
    }

    /// Cancels this as a child of another execution.
    func cancel(for parent: HTTPExecution) { cancel() }

    func addCancellationHandler(_ handler: @escaping @Sendable () -> Void) -> Registration {
        let (cancellation, isLate) = state.withLock { state -> (Cancellation?, isLate: Bool) in
            if isCancelled || isComplete { return (nil, isLate: !isComplete) }
            let cancellation = state.cancellation ?? Cancellation()
            state.cancellation = cancellation
            return (cancellation, isLate: false)
        }
        if isLate { handler() }
        return CancellationToken(cancellation).register(handler)
    }

    // MARK: - Completing

    /// - Returns: True for exactly one caller, ever.
    func complete(with result: HTTPResult) -> Bool {
        let ended = state.withLock { state -> Ended? in
            if isComplete { return nil }
            wasCompleted.store(true, ordering: .relaxed)
            return state.end(with: result)
        }
        guard let ended else { return false }
        ended.cancellation?.fillDroppingHandlers(with: .abandoned)
        if case .future(let completion) = ended.wait { completion.fulfil(with: result) }
        // Not by `perform`, which allocates its closure in any case.
        if Trampoline.nest({ passOn(result, ended) }) == nil { Trampoline.putOff { self.passOn(result, ended) } }
        // If an earlier loader has completed this, what is under way below it is no longer needed.
        ended.children.cancel(for: self)
        return true
    }

    /// Passes the result on to those who wait for it without its future.
    private func passOn(_ result: HTTPResult, _ ended: Ended) {
        if case .loader(let handler) = ended.wait { handler(result) }
        if let parent = ended.parent {
            // Last, so that the resources of loaders further down the chain are free by then.
            parent.execution.forget(self)
            if let continuing = ended.continuing { continuing(result) } else { parent.complete(with: result) }
        }
        ended.shared?.finish(with: result)
    }

    func fail(_ code: HTTPError.Code) { _ = complete(with: .failure(HTTPError(code, request: request))) }
}
