internal import DeferredCore
internal import DeferredTask

/// Has an asynchronous closure handle requests, around the rest of the chain.
///
/// For what is called middleware elsewhere: change the request, look at the response, answer without the rest of the
/// chain, or call it again.
///
/// ```swift
/// let chain = Intercept { request, next in
///     var request = request
///     request.headers["X-Region"] = try await region.current()
///     return try await next(request)
/// } --> URLSessionLoader()
/// ```
///
/// Cancelling the task cancels the Swift task that runs the closure, and what it waits for by `next`; the closure
/// decides how it ends. The progress of what it loads is the task's. It runs with the task-local values of whoever
/// loads the request.
public struct Intercept: HTTPLink {
    /// Loads a request with the rest of the chain, and gives its response. Cancelling the Swift task that awaits it
    /// cancels it.
    public typealias Next = @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let handle: @Sendable (HTTPRequest, Next) async throws -> HTTPResponse

    /// Creates the loader.
    ///
    /// - Parameter handle: Called for each request, in a Swift task of its own. An ``HTTPError`` that it throws is the
    ///   result; any other error is the cause of an ``HTTPError/Code/unknown``, or ``HTTPError/Code/cancelled`` if it
    ///   means that. Kept as long as the loader.
    public init(_ handle: @escaping @Sendable (_ request: HTTPRequest, _ next: Next) async throws -> HTTPResponse) {
        self.handle = handle
    }

    /// Begins the closure.
    public func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let running = Task<HTTPResponse> { [handle, next] in
            try await handle(task.request) { request async throws(HTTPError) in
                try await task.response(to: request, from: next)
            }
        }
        task.addCancellationHandler { running.cancel() }
        // Completed by somebody above, it is over, too.
        task.addCompletionHandler { _ in running.cancel() }
        running.upon(.immediate) { result in
            task.complete(with: result.mapError { HTTPError($0, request: task.request) })
        }
    }
}

extension HTTPTask {
    fileprivate func response(
        to request: HTTPRequest,
        from next: (any HTTPLoader)?
    ) async throws(HTTPError) -> HTTPResponse {
        guard let part = send(request, to: next, endsCancelled: false, completion: { _ in }) else {
            // Complete without a next loader, or cancelled: what becomes of that, the closure decides.
            if case .failure(let error) = peek() { throw error }
            throw HTTPError(.cancelled, request: request)
        }
        return try await HTTPTask(part, isLoaders: false).get()
    }
}
