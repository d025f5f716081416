/// The state of one call of `get()`: a continuation that is resumed once, by the value or by a cancellation.
final class Waiter<Value: Sendable>: Sendable {
    private let state = Lock(WaiterStateMachine<Value>())

    /// Stores `continuation`, or resumes it if the cancellation came first.
    func suspend(_ continuation: UnsafeContinuation<Value?, Never>) {
        perform(state.withLock { $0.suspend(continuation) })
    }

    /// Resumes with the value, or with `nil` for a cancellation. The first call wins.
    func resume(with value: Value?) {
        perform(state.withLock { $0.resume(with: value) })
    }

    /// Stores the registration of the handler, to be cancelled if the cancellation wins.
    func register(_ registration: Registration) {
        perform(state.withLock { $0.register(registration) })
    }

    private func perform(_ action: WaiterStateMachine<Value>.Action) {
        action.registration?.cancel()
        if let (continuation, value) = action.resumption { continuation.resume(returning: value) }
    }
}

/// The state machine of a `Waiter`: returns the action for each event.
struct WaiterStateMachine<Value: Sendable>: Sendable {
    typealias Continuation = UnsafeContinuation<Value?, Never>

    struct Action {
        var resumption: (Continuation, Value?)?
        var registration: Registration?
    }

    private enum State {
        /// The task is not suspended yet.
        case initial
        case waiting(Continuation, Registration?)
        /// The cancellation came before the suspension.
        case cancelled
        case ended
    }

    private var state = State.initial

    mutating func suspend(_ continuation: Continuation) -> Action {
        switch state {
        case .initial:
            state = .waiting(continuation, nil)
            return Action()
        case .cancelled:
            state = .ended
            return Action(resumption: (continuation, nil))
        case .waiting, .ended:
            preconditionFailure("a waiter in state \(state) was suspended again")
        }
    }

    mutating func register(_ registration: Registration) -> Action {
        switch state {
        case .waiting(let continuation, nil):
            state = .waiting(continuation, registration)
            return Action()
        case .ended:
            return Action(registration: registration)
        case .initial, .cancelled, .waiting:
            preconditionFailure("a waiter in state \(state) was given a registration")
        }
    }

    mutating func resume(with value: Value?) -> Action {
        switch state {
        case .initial:
            // The value cannot come before the handler is registered, so this is a cancellation.
            state = .cancelled
            return Action()
        case .waiting(let continuation, let registration):
            state = .ended
            return Action(resumption: (continuation, value), registration: value == nil ? registration : nil)
        case .cancelled, .ended:
            return Action()
        }
    }
}
