internal import DeferredCore

/// One handler of a task's progress, or the object that shows it: called on one thread at a time, with the newest
/// snapshot, and once more at the end.
///
/// The progress is read when a delivery runs, so that reports in between cost little.
final class ProgressObserver<E: Executor>: Sendable {
    /// The reference that the task's future keeps: taking the handler back frees it, and it is told of the end as any
    /// handler is.
    private final class Retainer: Sendable {
        let observer: ProgressObserver

        init(_ observer: ProgressObserver) {
            self.observer = observer
        }

        deinit { observer.stop() }
    }

    private struct State: Sendable {
        /// True if a delivery waits for the executor, or for the handler to return. The first one is that of `start`,
        /// whatever is reported meanwhile.
        var isDue = true
        /// True while the handler runs.
        var isRunning = false
        /// True once the task has ended, or the handler was taken back.
        var isOver = false
        /// True if the task has succeeded; `nil` before its end.
        var hasSucceeded: Bool?
        var meter = RateMeter()
        var newest: ProgressSnapshot?
        /// The way from the task's node, until the end.
        var edge: ProgressEdge?
    }

    /// `nil` for a task that was created with its result.
    private let task: (handle: TaskHandle, node: TaskNode)?
    private let executor: E
    private let stopwatch: Stopwatch
    private let isRepeating: Bool
    private let body: @Sendable (_ snapshot: ProgressSnapshot, _ isIndeterminate: Bool, _ isLast: Bool) -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - isRepeating: Whether to deliver snapshots that are like the one before.
    ///   - body: Called with the newest snapshot, with true if every stage that reports does so without a total, and
    ///     with true for the last snapshot.
    init(
        _ task: TaskHandle?,
        _ executor: E,
        _ clock: some Clock<Duration>,
        isRepeating: Bool = false,
        _ body: @escaping @Sendable (_ snapshot: ProgressSnapshot, _ isIndeterminate: Bool, _ isLast: Bool) -> Void
    ) {
        self.task = task.map { ($0, $0.node) }
        self.executor = executor
        self.isRepeating = isRepeating
        self.body = body
        stopwatch = Stopwatch(clock)
        guard let task else { return }
        let edge = TaskNode.follow(task, .reader { [weak self] in self?.changed() })
        state.withLock { $0.edge = edge }
    }

    /// Schedules the first delivery, and waits for the end of the task. Returns what takes the handler back.
    func start(until storage: FutureStorage<Result<some Sendable, any Error>>) -> Registration {
        let retainer = Retainer(self)
        let registration = storage.upon(executor) { retainer.observer.end(with: $0) }
        submit()
        return registration
    }

    /// Schedules a delivery, unless one is due.
    func changed() {
        let mustSubmit = state.withLock { state in
            if state.isOver || state.isDue { return false }
            state.isDue = true
            return !state.isRunning
        }
        if mustSubmit { submit() }
    }

    private func submit() {
        if E.self == ImmediateExecutor.self { run() } else { executor.submit { [weak self] in self?.run() } }
    }

    private func run() {
        // Loops instead of recursing while others keep reporting.
        while begin() {
            deliver()
            let (end, isDue) = state.withLock { state in
                state.isRunning = false
                return (state.hasSucceeded, state.isDue)
            }
            // It came while the handler ran.
            if let end { return deliver(end: end) }
            if isDue, E.self != ImmediateExecutor.self { return submit() }
        }
    }

    private func begin() -> Bool {
        state.withLock { state in
            guard state.isDue, !state.isRunning, !state.isOver else { return false }
            (state.isDue, state.isRunning) = (false, true)
            return true
        }
    }

    /// Delivers for the last time, unless the handler runs: then that is done when it returns. Only the first call has an
    /// effect.
    func end(with result: Result<some Sendable, any Error>) {
        let hasSucceeded = !result.isFailure
        let mustDeliver = state.withLock { state in
            if state.isOver { return false }
            (state.isOver, state.hasSucceeded) = (true, hasSucceeded)
            return !state.isRunning
        }
        if mustDeliver { deliver(end: hasSucceeded) }
    }

    private func stop() {
        let hasEnded = state.withLock { state in
            state.isOver = true
            return state.hasSucceeded != nil
        }
        // The last delivery, which another thread may be about to make, reads the progress before it ends following.
        if !hasEnded { unfollow() }
    }

    private func unfollow() {
        if let edge = state.withLock({ $0.edge.take() }) { TaskNode.release([edge]) }
    }

    /// Calls the handler, unless it has seen the current state, or the last delivery is about to come.
    ///
    /// - Parameter end: Whether the task has succeeded, for the last delivery.
    private func deliver(end: Bool? = nil) {
        let (isLast, hasSucceeded) = (end != nil, end == true)
        guard isLast || task?.handle.isEnded == false else { return }
        let (fraction, share) =
            task.map { $0.node.progress(of: $0.handle, hasSucceeded: hasSucceeded) }
            ?? (hasSucceeded ? 1 : 0, Share())
        let now = stopwatch.elapsed
        let (old, new) = state.withLock { state in
            let old = state.newest
            let units = share.reported
            state.meter.record(Int64(clamping: units.completed - units.resumed), at: now)
            let new = ProgressSnapshot(fraction: fraction, share: share, throughput: state.meter.rate)
            state.newest = new
            return (old, new)
        }
        if isLast || isRepeating || old?.isAsFar(as: new) != true { body(new, share.isIndeterminate, isLast) }
        if isLast { unfollow() }
    }
}

extension ProgressSnapshot {
    /// Returns whether both snapshots are the same apart from the times.
    fileprivate func isAsFar(as other: ProgressSnapshot) -> Bool {
        (fraction, completed, total, resumed) == (other.fraction, other.completed, other.total, other.resumed)
    }
}
