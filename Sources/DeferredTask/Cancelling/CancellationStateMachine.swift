/// The cancellation of one task, as a pure machine: each event returns what has to be done, outside any lock.
///
/// ```
///            cancel                     end
///   active ──────────▶ cancelled ──────────────▶ ended(wasCancelled: true)
///     └───────────────────end──────────────────▶ ended(wasCancelled: false)
/// ```
struct CancellationStateMachine<Target: CancellationTarget>: Sendable {
    enum State: Sendable {
        /// The work may still be stopped.
        case active(Target)
        /// The work was asked to stop, and has not ended yet.
        case cancelled(Target)
        /// The work has ended, and was let go.
        case ended(wasCancelled: Bool)
    }

    private(set) var state: State

    init(_ target: Target) {
        state = .active(target)
    }

    var isCancelled: Bool {
        switch state {
        case .active: false
        case .cancelled: true
        case .ended(let wasCancelled): wasCancelled
        }
    }

    /// The work, until it has ended.
    var target: Target? {
        switch state {
        case .active(let target), .cancelled(let target): target
        case .ended: nil
        }
    }

    /// Asks to stop. The first time, before the end, returns what has to be stopped.
    mutating func cancel() -> Target? {
        guard case .active(let target) = state, !target.isFinished else { return nil }
        state = .cancelled(target)
        return target
    }

    /// Notes the end of the work. Returns the state before, to be let go outside any lock.
    mutating func end() -> State {
        let old = state
        state = .ended(wasCancelled: isCancelled)
        return old
    }
}

/// Work that a `CancellationStateMachine` can stop.
protocol CancellationTarget: Sendable {
    /// Whether the work has ended, though the machine may not have been told yet.
    var isFinished: Bool { get }
}
