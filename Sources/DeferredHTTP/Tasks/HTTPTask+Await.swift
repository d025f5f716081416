internal import DeferredCore

extension HTTPTask {
    /// The result of the request, as soon as there is one.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel the request.
    public var result: HTTPResult {
        get async { await future.value }
    }

    /// The response, as soon as it is there.
    ///
    /// Waits even if the awaiting task is cancelled, and does not cancel the request, as in Swift's own `Task.value`.
    ///
    /// - Throws: What the request fails with.
    public var value: HTTPResponse {
        get async throws(HTTPError) { try await future.value.get() }
    }

    /// The response, as soon as it is there; cancelling the awaiting task cancels the request.
    ///
    /// ```swift
    /// let user = try await chain.load(request).get().decode(User.self)
    /// ```
    ///
    /// For structured concurrency: the wait ends when the request does, whose loader decides what a cancellation comes
    /// to.
    ///
    /// - Throws: What the request fails with.
    public func get() async throws(HTTPError) -> HTTPResponse {
        if let result = peek() { return try result.get() }
        return try await result(on: #isolation).get()
    }

    private func result(on actor: isolated (any Actor)?) async -> HTTPResult {
        await withTaskCancellationHandler {
            // Being captured keeps the closure on the caller's actor, which spares two hops.
            _ = actor
            return await future.value
        } onCancel: {
            cancel()
        }
    }
}
