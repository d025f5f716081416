/// The deliveries to one progress handler, as a pure state machine: one at a time, the newest wins, and one last at the
/// end.
///
/// ```
///   idle ──changed──▶ submitted ──begin──▶ running ──changed──▶ outrun
///     ▲                   ▲                   │                    │
///     └───────────────────┼──────returned─────┘                    │
///                         └─────────────────returned───────────────┘
///
///   idle, submitted ──end──▶ ended
///   running, outrun ──end──▶ ending ──returned──▶ ended
///   idle, submitted, running, outrun ──stop──▶ ended
/// ```
struct ProgressDeliveryStateMachine: Sendable {
    enum State: Sendable, CaseIterable {
        /// The handler has seen the newest snapshot.
        case idle
        /// A delivery waits for its executor; it will deliver the newest snapshot of that moment.
        case submitted
        /// The handler runs.
        case running
        /// The handler runs, and there is a newer snapshot.
        case outrun
        /// The handler runs, and the last delivery comes afterwards.
        case ending
        /// The handler is never called again.
        case ended
    }

    enum Action: Sendable {
        case nothing
        /// Submit a delivery to the executor.
        case submit
        /// Call the handler with the newest snapshot, and then call `returned`.
        case deliver
        /// Call the handler for the last time.
        case deliverLast
    }

    private(set) var state: State

    init(_ state: State) {
        self.state = state
    }

    /// Notes that there is a newer snapshot.
    mutating func changed() -> Action {
        switch state {
        case .idle:
            state = .submitted
            return .submit
        case .running:
            state = .outrun
            return .nothing
        case .submitted, .outrun, .ending, .ended:
            return .nothing
        }
    }

    /// Notes that the executor runs the submitted delivery.
    mutating func begin() -> Action {
        guard case .submitted = state else { return .nothing }
        state = .running
        return .deliver
    }

    /// Notes that the handler has returned.
    mutating func returned() -> Action {
        switch state {
        case .running:
            state = .idle
            return .nothing
        case .outrun:
            state = .submitted
            return .submit
        case .ending:
            state = .ended
            return .deliverLast
        case .ended:
            return .nothing
        case .idle, .submitted:
            preconditionFailure("a progress handler returned in state \(state), in which it doesn't run")
        }
    }

    /// Notes that the task has ended, on the executor that is to run the last delivery.
    mutating func end() -> Action {
        switch state {
        case .idle, .submitted:
            state = .ended
            return .deliverLast
        case .running, .outrun:
            state = .ending
            return .nothing
        case .ending, .ended:
            return .nothing
        }
    }

    /// Notes that the handler was taken back, or released after `end`; a last delivery that is due still happens.
    mutating func stop() {
        if case .ending = state { return }
        state = .ended
    }
}
