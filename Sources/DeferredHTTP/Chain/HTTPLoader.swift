public import DeferredCore

/// A type that loads requests: a whole chain, one link of it, or the terminal loader that talks to the network.
///
/// A chain is built with `-->`, and is a value: there is no registry of chains.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> Retry() --> Throttle(maximum: 8) --> URLSessionLoader()
/// let response = try await chain.load(HTTPRequest(url: url)).get()
/// ```
///
/// A custom loader that passes requests on is an ``HTTPLink``, and takes ten lines:
///
/// ```swift
/// /// Says with each request in which language the answer is to be.
/// struct Language: HTTPLink {
///     let code: String
///     var next: (any HTTPLoader)?
///
///     func load(_ task: HTTPTask) {
///         var request = task.request
///         request.headers["Accept-Language"] = code
///         task.pass(request, to: next)
///     }
/// }
/// ```
///
/// A loader that inspects the result gives `pass` a closure, and completes the task in it. A loader that answers by
/// itself, such as a terminal loader, begins with ``HTTPTask/failIfCancelled()``, adds a cancellation handler, and
/// completes the task in its own time.
///
/// **Rules:** a loader completes or passes on each task that it loads, so that every task completes exactly once. Both
/// may happen on any thread, even before `load` returns. No lock is held meanwhile.
public protocol HTTPLoader: Sendable {
    /// Takes over a task: completes it, now or later, or passes it on. Must not block.
    func load(_ task: HTTPTask)

    /// Brings this loader, and the loaders after it, back to their initial state.
    ///
    /// - Returns: A future that is filled when that is done. By default, at once, or when the next loader's is.
    func reset() -> Future<Void>
}

extension HTTPLoader {
    /// Returns a filled future: a loader without state has nothing to reset.
    public func reset() -> Future<Void> { Future(value: ()) }

    /// Starts a request.
    ///
    /// - Returns: A task to cancel the request and to read its result. The request goes on even if you drop the task.
    @discardableResult
    public func load(_ request: HTTPRequest) -> HTTPTask {
        let task = HTTPTask(request)
        let observer = task.observer
        load(task)
        return observer
    }

    /// Starts a request, and calls `completion` with the result, once.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - completion: Called on the thread that completes the task, also when it was cancelled.
    /// - Returns: A task to cancel the request.
    @discardableResult
    public func load(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (HTTPResult) -> Void
    ) -> HTTPTask {
        let task = HTTPTask(request)
        let observer = task.observer
        task.addCompletionHandler(completion)
        load(task)
        return observer
    }
}
