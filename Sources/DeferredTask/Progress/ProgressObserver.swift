internal import DeferredCore

/// One handler of a task's progress.
///
/// Only the task's future keeps it, by a ``Lease``: taking the handler back frees it, and it is told of the end as any
/// handler is. The progress is read when a delivery runs, so that reports in between cost little.
///
/// SAFETY: `followed` is set before the object is shared; the rest is locked.
final class ProgressObserver<E: Executor>: @unchecked Sendable {
    /// The reference that the future keeps.
    final class Lease: Sendable {
        let observer: ProgressObserver

        init(_ observer: ProgressObserver) {
            self.observer = observer
        }

        deinit { observer.stop() }
    }

    private struct State: Sendable {
        var machine = ProgressDeliveryStateMachine()
        var meter = RateMeter()
        var newest: ProgressSnapshot?
        /// Set at the end.
        var hasSucceeded = false
    }

    private var followed: FollowedProgress?
    private let executor: E
    private let elapsed: @Sendable () -> Duration
    private let body: @Sendable (ProgressSnapshot, _ isLast: Bool) -> Void
    private let state = Lock(State())

    init(
        _ task: TaskHandle?,
        _ executor: E,
        _ clock: some Clock<Duration>,
        _ body: @escaping @Sendable (ProgressSnapshot, _ isLast: Bool) -> Void
    ) {
        self.executor = executor
        self.body = body
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        followed = task.map { FollowedProgress($0) { [weak self] in self?.changed() } }
    }

    /// Schedules a delivery.
    func changed() {
        perform(state.withLock { $0.machine.changed() })
    }

    /// Delivers for the last time.
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
        followed?.stop()
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
                followed?.stop()
                return
            }
        }
    }

    /// Calls the handler, unless it has seen the current state, or the last delivery is about to come.
    private func deliver(isLast: Bool = false) {
        guard isLast || followed?.task.isEnded == false else { return }
        let hasSucceeded = isLast && state.withLock { $0.hasSucceeded }
        let (fraction, share) = followed?.read(hasSucceeded: hasSucceeded) ?? (hasSucceeded ? 1 : 0, Share())
        let now = elapsed()
        let (old, new) = state.withLock { state in
            let old = state.newest
            let units = share.reported
            state.meter.record(Int64(clamping: units.completed - units.resumed), at: now)
            let new = ProgressSnapshot(fraction: fraction, share: share, throughput: state.meter.rate)
            state.newest = new
            return (old, new)
        }
        if isLast || old?.isAsFar(as: new) != true { body(new, isLast) }
    }
}

extension ProgressSnapshot {
    /// Returns whether both snapshots are the same apart from the times.
    fileprivate func isAsFar(as other: ProgressSnapshot) -> Bool {
        (fraction, completed, total, resumed) == (other.fraction, other.completed, other.total, other.resumed)
    }
}
