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
/// A custom loader that passes requests on is an ``HTTPLink``, and takes eight lines:
///
/// ```swift
/// /// Says with each request in which language the answer is to be.
/// struct Language: HTTPLink {
///     let code: String
///     func load(_ task: HTTPTask, next: any HTTPLoader) {
///         var request = task.request
///         request.headers["Accept-Language"] = code
///         task.pass(request, to: next)
///     }
/// }
/// ```
///
/// A loader that inspects the result gives `pass` a closure, and completes the task in it. A loader that answers by
/// itself, such as a terminal loader, begins with ``HTTPTask/failIfCancelled()``, adds a cancellation handler, and
/// completes the task in its own time. One that holds a task back, such as a limit, adds a completion handler as well, since
/// an earlier loader may complete the task meanwhile, and cancels both registrations when it passes the task on.
///
/// A loader that holds others names them in ``successors``, so that a reset reaches them:
///
/// ```swift
/// /// Takes turns between two servers.
/// struct Alternate: HTTPLoader {
///     let loaders: [any HTTPLoader]
///     let count = Counter()
///     var successors: [any HTTPLoader] { loaders }
///     func load(_ task: HTTPTask) { task.pass(to: loaders[count.next() % loaders.count]) }
/// }
/// ```
///
/// If it forgets to, a sign-out leaves their tokens, and what they have in flight, as they are. See also ``Router`` and
/// ``Fallback``. `LoaderRules` of `DeferredTesting` tests a custom loader.
///
/// **Rules:** a loader completes or passes on each task that it loads, so that every task completes exactly once. Both
/// may happen on any thread, even before `load` returns. No lock is held meanwhile.
public protocol HTTPLoader: Sendable {
    /// Takes over a task: completes it, now or later, or passes it on. Must not block.
    func load(_ task: HTTPTask)

    /// The loaders that this one holds, and may pass tasks on to; by default, none.
    var successors: [any HTTPLoader] { get }

    /// Brings this loader, and those that it holds, back to their initial state. A chain resets all of its loaders.
    ///
    /// A loader with a state of its own ends with ``resetSuccessors()`` if it holds others.
    ///
    /// - Returns: A future that is filled when that is done. By default, when the successors are reset.
    func reset() -> Future<Void>
}

extension HTTPLoader {
    /// No loaders.
    public var successors: [any HTTPLoader] { [] }

    /// Resets the successors.
    public func reset() -> Future<Void> { resetSuccessors() }

    /// Resets the successors, all at the same time.
    ///
    /// - Returns: A future that is filled when the last of them is reset; now if there are none.
    public func resetSuccessors() -> Future<Void> { successors.reset() }

    /// Starts a request.
    ///
    /// - Returns: A task to cancel the request and to read its result. The request goes on even if you drop the task.
    @discardableResult
    public func load(_ request: HTTPRequest) -> HTTPTask {
        start(HTTPExecution(request))
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
        start(HTTPExecution(request, whenEnded: completion))
    }

    private func start(_ execution: HTTPExecution) -> HTTPTask {
        let observer = HTTPTask(execution, isLoaders: false)
        load(HTTPTask(execution, isLoaders: true))
        return observer
    }
}
