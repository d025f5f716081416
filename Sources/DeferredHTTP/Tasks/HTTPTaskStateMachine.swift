/// The life of one ``HTTPTask``, as a pure machine: each event returns what has to be done, outside any lock.
///
/// ```
///           cancel                    complete
///   active ────────▶ cancelled ───────────────────▶ completed(wasCancelled: true)
///     └──────────────complete─────────────────────▶ completed(wasCancelled: false)
/// ```
struct HTTPTaskStateMachine: Sendable {
    enum State: Sendable, Hashable {
        /// Not loaded yet, or in the hands of a loader.
        case active
        /// Somebody asked to stop. Whoever holds the task is to complete it.
        case cancelled
        /// There is a result.
        case completed(wasCancelled: Bool)
    }

    enum Action: Hashable {
        case nothing
        /// Call the cancellation handlers, newest first.
        case stop
        /// Free the cancellation handlers, and call the completion handlers, oldest first.
        case deliver
    }

    private(set) var state = State.active

    var isCancelled: Bool {
        switch state {
        case .active, .completed(wasCancelled: false): false
        case .cancelled, .completed(wasCancelled: true): true
        }
    }

    /// Asks to stop.
    mutating func cancel() -> Action {
        switch state {
        case .active:
            state = .cancelled
            return .stop
        case .cancelled, .completed:
            return .nothing
        }
    }

    /// There is a result, which counts if it is the first.
    mutating func complete() -> Action {
        switch state {
        case .active, .cancelled:
            state = .completed(wasCancelled: isCancelled)
            return .deliver
        case .completed:
            return .nothing
        }
    }
}
