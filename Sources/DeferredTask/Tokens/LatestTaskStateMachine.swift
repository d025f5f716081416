/// Tracks the latest task, as a pure state machine: each event returns what has to be done, outside any lock.
///
/// ```
///            start              started
///   idle ───────────▶ starting ────────▶ running
///    ▲                    │                 │
///    └────────────────────┴─────────────────┘
///         deliver (the latest), or cancel
/// ```
///
/// Every `start` and every `cancel` supersedes the task started before; from then on, `deliver` refuses its result.
struct LatestTaskStateMachine<Running: Sendable>: Sendable {
    enum State: Sendable {
        /// Nothing was started, or it was delivered or cancelled.
        case idle
        /// The latest was started; how to stop it is not known yet.
        case starting
        case running(Running)
    }

    private(set) var state = State.idle
    /// Counts the starts and the cancellations.
    private var latest: UInt64 = 0

    /// Supersedes the previous task, and makes the next one the latest.
    ///
    /// - Returns: The number of the new task, and the previous one, to be stopped.
    mutating func start() -> (number: UInt64, previous: Running?) {
        let previous = supersede(with: .starting)
        return (latest, previous)
    }

    /// Notes how to stop the task that was started as `number`.
    ///
    /// - Returns: `running`, if it was superseded meanwhile and has to be stopped.
    mutating func started(_ number: UInt64, _ running: Running) -> Running? {
        guard number == latest else { return running }
        // Otherwise it was delivered meanwhile.
        if case .starting = state { state = .running(running) }
        return nil
    }

    /// Decides whether to deliver the result of the task started as `number`. Called once for each.
    ///
    /// - Returns: The decision, and the task that has ended, to be released.
    mutating func deliver(_ number: UInt64) -> (mayDeliver: Bool, ended: Running?) {
        guard number == latest else { return (false, nil) }
        defer { state = .idle }
        return (true, state.running)
    }

    /// Supersedes without starting anything. Returns the task that has to be stopped.
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
