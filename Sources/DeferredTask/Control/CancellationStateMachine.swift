/// The cancellation of one task, as a pure state machine.
///
/// ```
///            cancel                     end
///   active ──────────▶ cancelled ──────────────▶ ended(wasCancelled: true)
///     └───────────────────end──────────────────▶ ended(wasCancelled: false)
/// ```
struct CancellationStateMachine: Sendable {
    enum State: Sendable, Equatable {
        /// The work may still be stopped.
        case active
        /// The work was asked to stop, and has not ended yet.
        case cancelled
        /// The work has ended.
        case ended(wasCancelled: Bool)
    }

    private(set) var state = State.active

    var isCancelled: Bool {
        switch state {
        case .active: false
        case .cancelled: true
        case .ended(let wasCancelled): wasCancelled
        }
    }

    var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Notes a request to stop. Returns true the first time, before the end.
    mutating func cancel() -> Bool {
        guard case .active = state else { return false }
        state = .cancelled
        return true
    }

    /// Notes the end of the work.
    mutating func end() {
        state = .ended(wasCancelled: isCancelled)
    }
}
