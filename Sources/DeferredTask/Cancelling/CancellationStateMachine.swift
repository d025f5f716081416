/// The cancellation of one task, as a pure machine: each event returns what has to be done, outside any lock.
///
/// ```
///            cancel                     end
///   active ──────────▶ cancelled ──────────────▶ ended(wasCancelled: true)
///     └───────────────────end──────────────────▶ ended(wasCancelled: false)
/// ```
struct CancellationStateMachine<Target: CancellationTarget>: Sendable {
    typealias Handler = @Sendable () -> Void

    enum State: Sendable {
        /// The work may still be stopped. Handlers are in order of registration.
        case active(Target, handlers: [Handler])
        /// The work was asked to stop, and has not ended yet.
        case cancelled(Target)
        /// The work has ended, and everything was let go.
        case ended(wasCancelled: Bool)
    }

    private(set) var state: State

    init(_ target: Target, handlers: [Handler]) {
        state = .active(target, handlers: handlers)
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
        case .active(let target, _), .cancelled(let target): target
        case .ended: nil
        }
    }

    /// What a cancellation has to stop: the target, and then the handlers, newest first.
    struct Cancellation: Sendable {
        let target: Target
        let handlers: [Handler]
    }

    /// Asks to stop. Only the first time, before the end, is there something to be done.
    mutating func cancel() -> Cancellation? {
        guard case .active(let target, let handlers) = state, !target.isFinished else { return nil }
        state = .cancelled(target)
        return Cancellation(target: target, handlers: handlers.reversed())
    }

    /// Notes the end of the work. Returns the state before, to be let go outside any lock.
    mutating func end() -> State {
        defer { state = .ended(wasCancelled: isCancelled) }
        return state
    }
}

/// Work that a `CancellationStateMachine` can stop.
protocol CancellationTarget: Sendable {
    /// Whether the work has ended, though the machine may not have been told yet.
    var isFinished: Bool { get }
}
