/// The deliveries of one progress handler, as a pure machine: one at a time, the newest wins, and one last at the end.
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
        /// The handler knows the newest.
        case idle
        /// A delivery waits for its executor; it will take what is newest then.
        case submitted
        /// The handler runs.
        case running
        /// The handler runs, and there is something newer.
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
        /// Call the handler with the newest snapshot, and then tell `returned`.
        case deliver
        /// Call the handler for the last time.
        case deliverLast
    }

    private(set) var state = State.idle

    init(_ state: State = .idle) {
        self.state = state
    }

    /// There is a newer snapshot.
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

    /// The delivery that was submitted has its turn.
    mutating func begin() -> Action {
        guard case .submitted = state else { return .nothing }
        state = .running
        return .deliver
    }

    /// The handler has returned.
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

    /// The task has ended, and the last delivery has its turn.
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

    /// The handler was taken back, or let go of after `end`; what that owes is still delivered.
    mutating func stop() {
        if case .ending = state { return }
        state = .ended
    }
}
