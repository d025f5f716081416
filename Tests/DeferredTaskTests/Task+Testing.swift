import DeferredTask

extension Task {
    /// The value, if the task has succeeded already.
    var valueNow: Success? { try? peek()?.get() }

    /// The error, if the task has failed already.
    var failureNow: (any Error)? {
        if case .failure(let error) = peek() { error } else { nil }
    }
}
