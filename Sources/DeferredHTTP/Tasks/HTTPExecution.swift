package import DeferredCore
package import DeferredTask
internal import Synchronization

/// The state of one execution, which outlives the references that loaders have to it.
///
/// A loader refers to it through the ``HTTPTask`` that it was given, and all others through separate tasks. So the
/// execution can tell when the last loader has released it.
///
/// An execution and the children that were made for it refer to each other, until either of them completes.
///
/// SAFETY: `parent` and `continuing` are set before anybody else can refer to the execution, and taken by the one
/// caller that completes it; everything else is immutable, atomic or locked.
package final class HTTPExecution: ChildExecution, @unchecked Sendable {
    private typealias Cancellation = FutureStorage<CancellationToken.Ending>

    private struct State {
        var wait = Wait.nobody
        /// The cancellation handlers: those of tasks whose request is the first one, of those whose request was changed
        /// once, and so on. Each is created for its first handler, or for one of a later request.
        var cancellations: [Cancellation] = []
        /// The children that were passed on for this one and have not completed.
        var children = ChildExecutions()
        /// Created on first use.
        var reporter: ProgressReporter?
        /// Called with the events between the start and the end.
        var observers: [Observer] = []
        /// The owner of an execution for several tasks, until the result.
        var shared: SharedExecution?
        /// The number of changes of the request for the task that completed this.
        var changesAtEnd = 0

        /// Returns the handlers of tasks whose request was changed so often.
        mutating func cancellation(after changes: Int) -> Cancellation {
            while cancellations.count <= changes { cancellations.append(Cancellation()) }
            return cancellations[changes]
        }

        /// Returns what a cancellation is to reach, and keeps nothing of it.
        mutating func cancel() -> (cancellations: [Cancellation], children: ChildExecutions) {
            defer { (cancellations, children) = ([], ChildExecutions()) }
            return (cancellations, children)
        }

        /// Returns what the result is to reach, and keeps nothing of it.
        mutating func end(with result: HTTPResult) -> Ended {
            defer {
                (cancellations, children, shared) = ([], ChildExecutions(), nil)
                if case .future = wait {} else { wait = .over(result) }
            }
            return Ended(wait: wait, cancellations: cancellations, children: children, shared: shared)
        }
    }

    /// The parts of a state that a result is to reach, and that are released outside of the lock.
    private struct Ended {
        let wait: Wait
        let cancellations: [Cancellation]
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
    ///
    /// SAFETY: retained from `init` to `deinit`; unmanaged, since otherwise each use would retain it once more.
    private let root: Unmanaged<HTTPExecution>?

    /// The task that this is a child of, whose loader waits for the result.
    @exclusivity(unchecked) private var parent: HTTPTask?
    @exclusivity(unchecked) private var continuing: (@Sendable (HTTPResult) -> Void)?

    /// - Parameter handler: Called with the result, before the completion handlers.
    init(_ request: HTTPRequest, whenEnded handler: (@Sendable (HTTPResult) -> Void)? = nil) {
        self.request = request
        identity = Identity()
        locals = TaskLocals.ofRunningTask()
        root = nil
        let wait: Wait = if let handler { .loader(handler) } else { .nobody }
        state = Lock(State(wait: wait))
    }

    /// Creates an execution of the same request, which others can join.
    ///
    /// - Parameter shared: Passes the result and the progress on.
    init(sharedBy first: HTTPTask, in shared: SharedExecution) {
        request = first.request
        identity = first.execution.identity
        locals = first.execution.withRoot { $0.locals }
        root = nil
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
        self.parent = parent
        self.continuing = continuing
        locals = nil
        root = (parent.execution.root ?? .passUnretained(parent.execution)).retain()
        state = Lock(State())
    }

    deinit { root?.release() }

    private func withRoot<Result>(_ body: (HTTPExecution) -> Result) -> Result {
        if let root { root._withUnsafeGuaranteedRef(body) } else { body(self) }
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

    /// The result, if nobody has asked for its future, which is not made for this.
    var unobservedResult: HTTPResult? {
        guard isComplete else { return nil }
        return state.withLock { if case .over(let result) = $0.wait { result } else { nil } }
    }

    /// True if this has been completed. Its handlers may still be running.
    // Acquires nothing: the result comes from `completion`.
    var isComplete: Bool { wasCompleted.load(ordering: .relaxed) }

    /// The reporter of the root's progress in bytes.
    package var reporter: ProgressReporter {
        withRoot { root in
            let (reporter, shared) = root.state.withLock { state in
                if let reporter = state.reporter { return (reporter, SharedExecution?.none) }
                let reporter = ProgressReporter(unit: .bytes)
                state.reporter = reporter
                return (reporter, state.shared)
            }
            shared?.follow(reporter)
            return reporter
        }
    }

    /// Reports an event of a child to the observers of the root.
    func tell(_ event: Log.Event.Kind) {
        withRoot { root in
            // A log after a retry sees one attempt: the events of later attempts are not its own.
            for observer in root.state.withLock({ $0.observers }) where observer.execution?.isComplete == false {
                observer.tell(event)
            }
        }
    }

    /// Calls `body` with the events of the root until this is complete. It is released once another one is added then.
    func watch(_ body: @escaping @Sendable (Log.Event.Kind) -> Void) {
        withRoot { root in
            // Each attempt of a retry before a log adds an observer; those of earlier attempts are dropped. What they
            // hold, and the executions, are released outside of the lock.
            let known = root.state.withLock { state in
                let known = state.observers.map { (observer: $0, execution: $0.execution) }
                state.observers = known.filter { $0.execution?.isComplete == false }.map(\.observer)
                state.observers.append(Observer(execution: self, tell: body))
                return known
            }
            withExtendedLifetime(known) {}
        }
    }

    // MARK: - Passing on

    /// Calls a closure that sends something later than in `load`, with the task-locals of the root.
    package func later(_ body: () -> Void) { withRoot { $0.locals }.restore(body) }

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
    var isToStop: Bool {
        isCancelled || withRoot { $0.isStopping.load(ordering: .relaxed) }
    }

    /// Keeps the root from being passed on, before a reset cancels one request after the other.
    // Relaxed: one that another thread passes on at the same moment could as well have been passed on before.
    func prepareToStop() { withRoot { $0.isStopping.store(true, ordering: .relaxed) } }

    /// True if this is cancelled, or was completed by a loader before the last of `changes`, for whose successors that is
    /// the same.
    func isCancelled(after changes: Int) -> Bool { isCancelled || isComplete(before: changes) }

    private func isComplete(before changes: Int) -> Bool {
        changes > 0 && isComplete && state.withLock { $0.changesAtEnd } < changes
    }

    package func cancel() {
        let told = state.withLock { state -> (cancellations: [Cancellation], children: ChildExecutions)? in
            if isCancelled || isComplete { return nil }
            wasCancelled.store(true, ordering: .relaxed)
            return state.cancel()
        }
        guard let told else { return }
        told.children.cancel(for: self)
        for cancellation in told.cancellations.reversed() { _ = cancellation.fillNewestFirst(with: .cancelled) }
    }

    /// Cancels this as a child of another execution.
    func cancel(for parent: HTTPExecution) { cancel() }

    /// - Parameter changes: How often the request was changed for the task that the handler is added to. A completion by a
    ///   task before the last change calls the handler, too.
    func addCancellationHandler(after changes: Int = 0, _ handler: @escaping @Sendable () -> Void) -> Registration {
        let cancellation = state.withLock { state -> Cancellation? in
            isCancelled || isComplete ? nil : state.cancellation(after: changes)
        }
        if cancellation == nil, !isComplete || isComplete(before: changes) { handler() }
        return CancellationToken(cancellation).register(handler)
    }

    // MARK: - Completing

    /// - Parameter changes: How often the request was changed for the task that completes this.
    /// - Returns: True for exactly one caller, ever.
    func complete(with result: HTTPResult, after changes: Int = 0) -> Bool {
        let told = state.withLock { state -> Ended? in
            if isComplete { return nil }
            wasCompleted.store(true, ordering: .relaxed)
            state.changesAtEnd = changes
            return state.end(with: result)
        }
        guard let told else { return false }
        for cancellation in told.cancellations.prefix(changes + 1) {
            cancellation.fillDroppingHandlers(with: .abandoned)
        }
        if case .future(let completion) = told.wait { completion.fulfil(with: result) }
        // Not by `perform`, which allocates its closure in any case.
        if Trampoline.nest({ passOn(result, told) }) == nil { Trampoline.putOff { self.passOn(result, told) } }
        // If an earlier loader has completed this, what is under way below it is no longer needed.
        told.children.cancel(for: self)
        for cancellation in told.cancellations.dropFirst(changes + 1).reversed() {
            _ = cancellation.fillNewestFirst(with: .cancelled)
        }
        return true
    }

    /// Passes the result on to those who wait for it without its future.
    private func passOn(_ result: HTTPResult, _ told: Ended) {
        if case .loader(let handler) = told.wait { handler(result) }
        if let parent = parent.take() {
            // Last, so that the resources of loaders further down the chain are free by then.
            let continuing = continuing.take()
            parent.execution.forget(self)
            if let continuing { continuing(result) } else { parent.complete(with: result) }
        }
        told.shared?.finish(with: result)
    }

    func fail(_ code: HTTPError.Code) { _ = complete(with: .failure(HTTPError(code, request: request))) }
}
