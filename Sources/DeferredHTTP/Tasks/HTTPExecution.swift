import DeferredCore
import DeferredTask
internal import Synchronization

/// The state of one execution, which outlives the references that loaders have to it.
///
/// A loader refers to it through the ``HTTPTask`` that it was given, and everybody else through one of their own. So the
/// execution can tell when the last loader has let go of it.
///
/// Links run from an execution to those that were made for it, and go when either end completes. The way back, from a part
/// to the task that it was made for, is the completion handler of whoever passed it on.
final class HTTPExecution: Sendable {
    private struct State {
        var isCancelled = false
        var isCompleted = false
        /// Made for the first handler.
        var cancellation: FutureStorage<CancellationToken.Ending>?
        /// What was passed on for this execution and has not completed: mostly one.
        var part: HTTPExecution?
        var otherParts: [HTTPExecution] = []
        /// The next loader of a link that can't say it itself.
        var continuation: (any HTTPLoader)?

        mutating func takeParts() -> [HTTPExecution] {
            guard let first = part.take() else { return [] }
            defer { otherParts = [] }
            return [first] + otherParts
        }
    }

    let request: HTTPRequest
    let identity = Identity()
    let completion = FutureStorage<HTTPResult>()
    private let state = Lock(State())

    /// What a caller loaded, of which this is a part; `nil` if it is that itself.
    private let whole: HTTPExecution?
    private let lazyReporter = AtomicLazyReference<ProgressReporter>()
    private let lazyGate = AtomicLazyReference<ResetGate>()
    private let lazyMonitor = AtomicLazyReference<HTTPMonitor>()

    /// - Parameter whole: What this is a part of.
    init(_ request: HTTPRequest, partOf whole: HTTPExecution? = nil) {
        self.request = request
        self.whole = whole.map { $0.whole ?? $0 }
    }

    /// Counts the bytes of the whole.
    var reporter: ProgressReporter {
        let whole = whole ?? self
        return whole.lazyReporter.load() ?? whole.lazyReporter.storeIfNil(ProgressReporter(unit: .bytes))
    }

    /// Tells those who watch the whole what happens to a part of it.
    func tell(_ news: HTTPMonitor.News) {
        (whole ?? self).lazyMonitor.load()?.tell(news)
    }

    /// Calls `body` with what happens to the whole.
    func watch(_ body: @escaping @Sendable (HTTPMonitor.News) -> Void) {
        let whole = whole ?? self
        let monitor = whole.lazyMonitor.load() ?? whole.lazyMonitor.storeIfNil(HTTPMonitor())
        monitor.add(body)
    }

    // MARK: - Passing on

    func setContinuation(_ next: (any HTTPLoader)?) {
        var next = next
        state.withLock { swap(&$0.continuation, &next) }
    }

    /// The loader after a link that doesn't know it.
    ///
    /// - Parameter isLast: Whether the link passes on the execution itself, and the next link has another one after it.
    func continuation(isLast: Bool) -> (any HTTPLoader)? {
        state.withLock { isLast ? $0.continuation.take() : $0.continuation }
    }

    // MARK: - Cancelling

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether this is cancelled, or about to be by a reset.
    var isToStop: Bool { (whole ?? self).lazyGate.load()?.isClosed == true || isCancelled }

    /// Lets a reset stop this, and all that it is a part of, at a moment's notice.
    func pass(_ gate: ResetGate) {
        _ = (whole ?? self).lazyGate.storeIfNil(gate)
    }

    func cancel() {
        let (cancellation, parts) = state.withLock { state in
            guard !state.isCancelled, !state.isCompleted else {
                return (FutureStorage<CancellationToken.Ending>?.none, [HTTPExecution]())
            }
            state.isCancelled = true
            return (state.cancellation.take(), state.takeParts())
        }
        for part in parts.reversed() { part.cancel() }
        _ = cancellation?.fillNewestFirst(with: .cancelled)
    }

    func addCancellationHandler(_ handler: @escaping @Sendable () -> Void) -> Registration {
        let (isCancelled, cancellation) = state.withLock { state -> (Bool, FutureStorage<CancellationToken.Ending>?) in
            if state.isCompleted { return (false, nil) }
            if state.isCancelled { return (true, nil) }
            let cancellation = state.cancellation ?? FutureStorage()
            state.cancellation = cancellation
            return (false, cancellation)
        }
        if isCancelled, !completion.isFilledForAll { handler() }
        return CancellationToken(cancellation).register(handler)
    }

    /// Cancels `part` with this, or when this completes before it.
    func adopt(_ part: HTTPExecution) {
        let isLate = state.withLock { state in
            if state.isCancelled || state.isCompleted { return true }
            if state.part == nil { state.part = part } else { state.otherParts.append(part) }
            return false
        }
        if isLate { part.cancel() }
    }

    /// Lets go of a part that has completed.
    ///
    /// - Parameter part: Not compared but by its address, so that its own handler needn't keep it.
    func forget(_ part: ObjectIdentifier) {
        // What goes is released outside of the lock.
        let (gone, others) = state.withLock { state in
            if let first = state.part, ObjectIdentifier(first) == part {
                let gone = state.part
                state.part = state.otherParts.popLast()
                return (gone, [HTTPExecution]())
            }
            let others = state.otherParts
            state.otherParts.removeAll { ObjectIdentifier($0) == part }
            return (HTTPExecution?.none, others)
        }
        withExtendedLifetime((gone, others)) {}
    }

    // MARK: - Completing

    /// - Returns: True for exactly one caller, ever.
    func complete(with result: HTTPResult) -> Bool {
        guard completion.claim() else { return false }
        let (cancellation, parts) = state.withLock { state in
            state.isCompleted = true
            return (state.cancellation.take(), state.takeParts())
        }
        cancellation?.fillDroppingHandlers(with: .abandoned)
        completion.fulfil(with: result)
        // Somebody above has completed this: nobody wants what is on its way any more.
        for part in parts { part.cancel() }
        return true
    }

    @discardableResult
    func fail(_ code: HTTPError.Code, response: HTTPResponse? = nil, underlying: (any Error)? = nil) -> Bool {
        complete(
            with: .failure(HTTPError(code, request: request, response: response, underlying: underlying))
        )
    }

    /// Whether there is nothing left to do.
    func failIfCancelled() -> Bool {
        guard isToStop else { return completion.isFilledForAll }
        cancel()
        fail(.cancelled)
        return true
    }
}

/// Closed when a reset begins, before it cancels one execution after the other: what waits is not to begin meanwhile.
final class ResetGate: Sendable {
    private let closed = Atomic(false)

    // Relaxed: an execution that begins on another thread at the same moment could as well have begun before.
    var isClosed: Bool { closed.load(ordering: .relaxed) }

    func close() { closed.store(true, ordering: .relaxed) }
}
