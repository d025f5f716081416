internal import DeferredCore

/// The task that a `flatMap` or `fallback` starts: known only once the closure has run, cancelled perhaps before.
@usableFromInline
package final class InnerTask: Sendable {
    private enum State: Sendable {
        case awaited
        case running(TaskControl)
        /// The outer task was cancelled while the closure ran.
        case cancelled
        case ended
    }

    private let state = Lock(State.awaited)
    private let watchers = Lock<Watchers?>(nil)

    @usableFromInline
    init() {}

    /// The control of the inner task while it runs.
    var control: TaskControl? {
        state.withLock { if case .running(let control) = $0 { control } else { nil } }
    }

    /// Notes the task that the closure has started.
    @usableFromInline
    func started(_ control: TaskControl?) {
        guard let control else { return }
        let isCancelled = state.withLock { state in
            switch state {
            case .awaited:
                state = .running(control)
                return false
            case .cancelled:
                return true
            case .running, .ended:
                preconditionFailure("a second inner task was started in state \(state)")
            }
        }
        if isCancelled { control.cancel() }
        watchers.withLock { $0 }?.notify()
    }

    /// Calls `body` when the inner task has started.
    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch {
        let watchers = watchers.withLock { watchers in
            let result = watchers ?? Watchers()
            watchers = result
            return result
        }
        return watchers.add(body)
    }

    func cancel() {
        let control: TaskControl? = state.withLock { state in
            switch state {
            case .awaited:
                state = .cancelled
                return nil
            case .running(let control):
                return control
            case .cancelled, .ended:
                return nil
            }
        }
        control?.cancel()
    }

    func end() {
        // Let go outside of the lock.
        _ = state.withLock { state in
            defer { state = .ended }
            return state
        }
    }
}
