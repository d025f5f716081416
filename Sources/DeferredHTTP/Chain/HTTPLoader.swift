public import DeferredCore

/// Something that loads requests: a whole chain, one loader of it, or the terminal one that talks to the network.
///
/// A chain is built with `-->`, and is a value; there is no other place where it would be kept.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> Retry() --> Throttle(maximum: 8) --> URLSessionLoader()
/// let response = try await chain.load(HTTPRequest(url: url)).get()
/// ```
///
/// A loader of one's own that passes requests on is an ``HTTPLink``, and takes ten lines:
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
/// One that looks at the result gives `pass` a closure, and completes the task in it. One that answers by itself, as a
/// terminal loader does, begins with ``HTTPTask/failIfCancelled()``, adds a cancellation handler, and completes the
/// task in its own time.
///
/// **Rules:** each task that is loaded is completed, or passed on; that is, exactly once in the end. Both may happen on
/// any thread, also before `load` returns. No lock is held meanwhile.
public protocol HTTPLoader: Sendable {
    /// Takes over a task: completes it, now or later, or passes it on. Must not block.
    func load(_ task: HTTPTask)

    /// Brings the loader, and those after it, back to where they began.
    ///
    /// - Returns: A future that is filled when that is done. By default, at once, or when the next loader's is.
    func reset() -> Future<Void>
}

extension HTTPLoader {
    /// Has nothing to bring back.
    public func reset() -> Future<Void> { Future(value: ()) }

    /// Begins a request.
    ///
    /// - Returns: What to cancel it by, and to read the result from. Keep it or not: the request goes on.
    @discardableResult
    public func load(_ request: HTTPRequest) -> HTTPTask {
        let task = HTTPTask(request)
        let observer = task.observer
        load(task)
        return observer
    }

    /// Begins a request, and calls `completion` with the result, once.
    ///
    /// - Parameters:
    ///   - request: What to load.
    ///   - completion: Called on the thread that completes the task, also when it was cancelled.
    /// - Returns: What to cancel it by.
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
