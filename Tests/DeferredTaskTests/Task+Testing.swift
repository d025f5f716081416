import DeferredTask

extension Task {
    /// The value, if the task has succeeded by now.
    var valueNow: Success? { try? peek()?.get() }

    /// The error, if the task has failed by now.
    var failureNow: (any Error)? {
        if case .failure(let error) = peek() { error } else { nil }
    }
}
