/// The task that is the latest, as a pure machine: each event returns what has to be done, outside any lock.
///
/// ```
///            start              started
///   idle ───────────▶ starting ────────▶ running
///    ▲                    │                 │
///    └────────────────────┴─────────────────┘
///         deliver (the latest), or cancel
/// ```
///
/// Every `start` and every `cancel` supersedes what was started before; from then on, `deliver` refuses that.
struct LatestTaskStateMachine<Running: Sendable>: Sendable {
    enum State: Sendable {
        /// Nothing was started, or it was delivered or cancelled.
        case idle
        /// Somebody is about to tell how to stop the latest.
        case starting
        case running(Running)
    }

    private(set) var state = State.idle
    /// Counts the starts and the cancellations.
    private var latest: UInt64 = 0

    /// Makes way for a task.
    ///
    /// - Returns: The number of the new one, and the one before, to be stopped.
    mutating func start() -> (number: UInt64, previous: Running?) {
        let previous = supersede(with: .starting)
        return (latest, previous)
    }

    /// Notes how to stop what was started as `number`.
    ///
    /// - Returns: The same, if it was superseded meanwhile and has to be stopped.
    mutating func started(_ number: UInt64, _ running: Running) -> Running? {
        guard number == latest else { return running }
        // Otherwise it was delivered meanwhile.
        if case .starting = state { state = .running(running) }
        return nil
    }

    /// Decides whether what was started as `number` is delivered. That is asked once for each.
    ///
    /// - Returns: The task that has ended, too, to be let go.
    mutating func deliver(_ number: UInt64) -> (mayDeliver: Bool, ended: Running?) {
        guard number == latest else { return (false, nil) }
        defer { state = .idle }
        return (true, state.running)
    }

    /// Supersedes without starting anything. Returns what has to be stopped.
    mutating func cancel() -> Running? { supersede(with: .idle) }

    private mutating func supersede(with next: State) -> Running? {
        defer { state = next }
        latest += 1
        return state.running
    }
}

extension LatestTaskStateMachine.State {
    var running: Running? {
        if case .running(let running) = self { running } else { nil }
    }
}
