internal import DeferredCore
internal import DeferredTask

/// Handles requests in an asynchronous closure, around the rest of the chain.
///
/// The equivalent of middleware in other frameworks: change the request, look at the response, answer without the rest
/// of the chain, or call the rest again.
///
/// ```swift
/// let chain = Intercept { request, next in
///     var request = request
///     request.headers["X-Region"] = try await region.current()
///     return try await next(request)
/// } --> URLSessionLoader()
/// ```
///
/// Cancelling the task cancels the Swift task that runs the closure, and the request that it awaits with `next`; the
/// closure decides how it ends. The progress of a request loaded with `next` counts as the task's. The closure runs
/// with the task-local values of the code that loads the request.
///
/// A closure can reset its own chain, and wait for that: the request that it handles is cancelled first, and is not
/// waited for. Of those that a ``Deduplicate`` before it has merged, that is the first; the others are waited for during the
/// grace period of ``Autocancel``.
///
/// ```swift
/// let signOut = Intercept { request, next in
///     let response = try await next(request)
///     if response.status == .unauthorized { await session.chain.reset().value }
///     return response
/// }
/// ```
public struct Intercept: HTTPLink, ArrangedLink {
    /// Loads a request with the rest of the chain, and returns its response. Cancelling the awaiting Swift task cancels
    /// the request.
    public typealias Next = @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse

    private let handle: @Sendable (HTTPRequest, @escaping Next) async throws -> HTTPResponse

    /// The requests that the current Swift task handles, the outermost first.
    @TaskLocal static var requests: [Identity] = []

    /// Creates the loader.
    ///
    /// - Parameter handle: Called for each request, in a separate Swift task. An ``HTTPError`` that it throws is the
    ///   result; any other error is the cause of an ``HTTPError/Code/unknown``, or ``HTTPError/Code/cancelled`` if it
    ///   indicates cancellation. Kept as long as the loader. `next` can escape into child tasks of the closure's own; after
    ///   the end of the request, it throws ``HTTPError/Code/cancelled``.
    public init(
        _ handle: @escaping @Sendable (_ request: HTTPRequest, _ next: @escaping Next) async throws -> HTTPResponse
    ) {
        self.handle = handle
    }

    /// Starts the closure.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        if task.failIfCancelled() { return }
        let requests = Self.requests + [task.execution.identity]
        let end = Deferred<Void>()
        let running = Task<HTTPResponse> { [handle] in
            try await Self.$requests.withValue(requests) {
                try await handle(task.request) { request async throws(HTTPError) in
                    try await task.response(to: request, from: next, before: end)
                }
            }
        }
        task.whenUnneeded { running.cancel() }
        running.upon(.immediate) { result in
            end.fill()
            task.complete(with: result.mapError { HTTPError($0, request: task.request) })
        }
    }
}

extension HTTPTask {
    fileprivate func response(
        to request: HTTPRequest,
        from next: any HTTPLoader,
        before end: Deferred<Void>
    ) async throws(HTTPError) -> HTTPResponse {
        guard let child = send(request, to: next, endsCancelled: false, completion: { _ in }) else {
            // Complete or cancelled: what becomes of that, the closure decides, while it runs.
            if case .failure(let error) = peek(), !end.isFilled { throw error }
            throw HTTPError(.cancelled, request: request)
        }
        return try await HTTPTask(child, isLoaders: false).get()
    }
}
