internal import DeferredCore

extension HTTPTask {
    /// The result of the request.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel the request.
    public var result: HTTPResult {
        get async { await future.value }
    }

    /// The response.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel the request, as in Swift's own `Task.value`.
    ///
    /// - Throws: The request's error.
    public var value: HTTPResponse {
        get async throws(HTTPError) { try await future.value.get() }
    }

    /// Returns the response; cancelling the awaiting task cancels the request.
    ///
    /// ```swift
    /// let user = try await chain.load(request).get().decode(User.self)
    /// ```
    ///
    /// For structured concurrency: the wait ends when the request does, and the loader that holds the request decides
    /// whether a cancellation fails it.
    ///
    /// - Throws: The request's error.
    public func get() async throws(HTTPError) -> HTTPResponse {
        if let result = peek() { return try result.get() }
        return try await result(on: #isolation).get()
    }

    private func result(on actor: isolated (any Actor)?) async -> HTTPResult {
        await withTaskCancellationHandler {
            // Capturing the actor keeps the closure on the caller's actor, which saves two hops.
            _ = actor
            return await future.value
        } onCancel: {
            cancel()
        }
    }
}
