internal import DeferredCore

/// One handler of a task's progress, or the object that shows it.
///
/// The progress is read when a delivery runs, so that reports in between cost little.
final class ProgressObserver<E: Executor>: Sendable {
    /// The reference that the task's future keeps: taking the handler back frees it, and it is told of the end as any
    /// handler is.
    final class Lease: Sendable {
        let observer: ProgressObserver

        init(_ observer: ProgressObserver) {
            self.observer = observer
        }

        deinit { observer.stop() }
    }

    /// The parameters of the handler.
    struct Delivery: Sendable {
        let snapshot: ProgressSnapshot
        /// True if every stage that reports does so without a total.
        let isIndeterminate: Bool
        let isLast: Bool
    }

    private struct State: Sendable {
        /// The first delivery is that of `start`, whatever is reported meanwhile.
        var machine = ProgressDeliveryStateMachine(.submitted)
        var meter = RateMeter()
        var newest: ProgressSnapshot?
        /// Set at the end.
        var hasSucceeded = false
        /// The way from the task's node, until the end.
        var edge: ProgressEdge?
    }

    /// `nil` for a task that was created with its result.
    private let task: (handle: TaskHandle, node: TaskNode)?
    private let executor: E
    private let elapsed: @Sendable () -> Duration
    private let isRepeating: Bool
    private let body: @Sendable (Delivery) -> Void
    private let state = Lock(State())

    /// - Parameter isRepeating: Whether to deliver snapshots that are like the one before.
    init(
        _ task: TaskHandle?,
        _ executor: E,
        _ clock: some Clock<Duration>,
        isRepeating: Bool = false,
        _ body: @escaping @Sendable (Delivery) -> Void
    ) {
        self.task = task.map { ($0, $0.node) }
        self.executor = executor
        self.isRepeating = isRepeating
        self.body = body
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        guard let task else { return }
        let edge = TaskNode.follow(task, .reader { [weak self] in self?.changed() })
        state.withLock { $0.edge = edge }
    }

    /// Schedules the first delivery.
    func start() { perform(.submit) }

    /// Schedules a delivery.
    func changed() {
        perform(state.withLock { $0.machine.changed() })
    }

    /// Delivers for the last time. Only the first call has an effect.
    func end(hasSucceeded: Bool) {
        perform(
            state.withLock { state in
                state.hasSucceeded = hasSucceeded
                return state.machine.end()
            }
        )
    }

    private func stop() {
        state.withLock { $0.machine.stop() }
        unfollow()
    }

    private func unfollow() {
        if let edge = state.withLock({ $0.edge.take() }) { TaskNode.release([edge]) }
    }

    private func perform(_ first: ProgressDeliveryStateMachine.Action) {
        var action = first
        while true {
            switch action {
            case .nothing:
                return
            case .submit where E.self != ImmediateExecutor.self:
                executor.submit { [weak self] in
                    guard let self else { return }
                    perform(state.withLock { $0.machine.begin() })
                }
                return
            case .submit:
                // Loops instead of recursing while others keep reporting.
                action = state.withLock { $0.machine.begin() }
            case .deliver:
                deliver()
                action = state.withLock { $0.machine.returned() }
            case .deliverLast:
                deliver(isLast: true)
                unfollow()
                return
            }
        }
    }

    /// Calls the handler, unless it has seen the current state, or the last delivery is about to come.
    private func deliver(isLast: Bool = false) {
        guard isLast || task?.handle.isEnded == false else { return }
        let hasSucceeded = isLast && state.withLock { $0.hasSucceeded }
        let (fraction, share) =
            task.map { $0.node.progress(of: $0.handle, hasSucceeded: hasSucceeded) }
            ?? (hasSucceeded ? 1 : 0, Share())
        let now = elapsed()
        let (old, new) = state.withLock { state in
            let old = state.newest
            let units = share.reported
            state.meter.record(Int64(clamping: units.completed - units.resumed), at: now)
            let new = ProgressSnapshot(fraction: fraction, share: share, throughput: state.meter.rate)
            state.newest = new
            return (old, new)
        }
        if isLast || isRepeating || old?.isAsFar(as: new) != true {
            body(Delivery(snapshot: new, isIndeterminate: share.isIndeterminate, isLast: isLast))
        }
    }
}

extension ProgressSnapshot {
    /// Returns whether both snapshots are the same apart from the times.
    fileprivate func isAsFar(as other: ProgressSnapshot) -> Bool {
        (fraction, completed, total, resumed) == (other.fraction, other.completed, other.total, other.resumed)
    }
}
