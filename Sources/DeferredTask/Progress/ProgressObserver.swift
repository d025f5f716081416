internal import DeferredCore

/// One handler of a task's progress.
///
/// The task's future keeps it by a ``Lease``, and nothing else does: taking the handler back frees it, and it hears of the
/// end as any handler does.
final class ProgressObserver<E: Executor>: Sendable {
    /// What the future holds.
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
        var last: ProgressSnapshot?

        mutating func snapshot(_ fraction: Double, _ share: Share, at time: Duration) -> ProgressSnapshot {
            meter.record(share.reported.completed, at: time)
            return ProgressSnapshot(fraction: fraction, share: share, throughput: meter.rate)
        }
    }

    private let tracker: ProgressTracker
    private let executor: E
    private let elapsed: @Sendable () -> Duration
    private let body: @Sendable (ProgressSnapshot) -> Void
    private let state = Lock(State())

    init(
        _ control: TaskControl?,
        _ executor: E,
        _ clock: some Clock<Duration>,
        _ body: @escaping @Sendable (ProgressSnapshot) -> Void
    ) {
        tracker = ProgressTracker(control)
        self.executor = executor
        self.body = body
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    /// Reads the progress, and has it delivered if it has changed.
    func update() {
        var hasChanged = false
        tracker.update {
            [weak self] in
            self?.update()
        } _: { fraction, share in
            if note(fraction, share) { hasChanged = true }
        }
        if hasChanged { perform(state.withLock { $0.machine.changed() }) }
    }

    /// Takes in what was read; false if there is nothing new in it.
    private func note(_ fraction: Double, _ share: Share) -> Bool {
        let now = elapsed()
        return state.withLock { state in
            let new = state.snapshot(fraction, share, at: now)
            defer { state.newest = new }
            guard let newest = state.newest else { return true }
            return (newest.fraction, newest.completed) != (new.fraction, new.completed) || newest.total != new.total
        }
    }

    /// Delivers for the last time.
    func end(hasSucceeded: Bool) {
        // Not by way of an update, which another thread may be about.
        let share = tracker.control?.share ?? Share()
        let now = elapsed()
        let action = state.withLock { state in
            let fraction = hasSucceeded ? 1 : max(state.newest?.fraction ?? 0, min(share.fraction, (1.0).nextDown))
            state.last = state.snapshot(fraction, share, at: now)
            return state.machine.end()
        }
        tracker.stop()
        perform(action)
    }

    private func stop() {
        state.withLock { $0.machine.stop() }
        tracker.stop()
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
                // In this loop, and not one within the other while others keep reporting.
                action = state.withLock { $0.machine.begin() }
            case .deliver:
                if let newest = state.withLock({ $0.newest }) { body(newest) }
                action = state.withLock { $0.machine.returned() }
            case .deliverLast:
                if let last = state.withLock({ $0.last }) { body(last) }
                return
            }
        }
    }
}
