public import DeferredCore
public import Foundation

/// One execution of a request, which loaders pass along a chain, and which a caller awaits and can cancel.
///
/// A caller gets it from ``HTTPLoader/load(_:)-(HTTPRequest)``, awaits it like a ``DeferredTask/Task``, reads the
/// result as that of any future, or composes further with ``task``.
///
/// ```swift
/// let loading = chain.load(HTTPRequest(url: url))
/// loading.upon(.main) { result in show(result) }
/// loading.cancel()
/// ```
///
/// A loader passes it to the next loader (``pass(to:)``, ``pass(_:to:completion:)``), or completes it: with
/// ``complete(with:)`` or ``fail(_:response:reason:underlying:)``. The first completion counts. Cancelling is a request: the
/// loader that holds the task at that moment decides how it ends, by a handler (``addCancellationHandler(_:)``).
///
/// **Thread safety:** all members are safe to use from any thread; handlers are called without a lock being held.
/// **Lifetime:** all handlers are released at the completion. A task that its loader releases before completing it
/// completes with ``HTTPError/Code/abandoned``, or with ``HTTPError/Code/cancelled`` if it was cancelled, although the
/// caller may still hold the task that `load` returned.
public final class HTTPTask: FutureProtocol, Cancellable, Identifiable {
    package let execution: HTTPExecution

    /// True if the owner of this reference has to complete the execution, as a loader does and a caller doesn't.
    private let isLoaders: Bool

    /// Creates a task, to be loaded with ``HTTPLoader/load(_:)-(HTTPTask)``.
    ///
    /// The loader is given this very object: as long as you keep it, releasing it does not complete the task. If you
    /// don't need that, use ``HTTPLoader/load(_:)-(HTTPRequest)`` instead.
    public convenience init(_ request: HTTPRequest) {
        self.init(HTTPExecution(request), isLoaders: true)
    }

    init(_ execution: HTTPExecution, isLoaders: Bool) {
        self.execution = execution
        self.isLoaders = isLoaders
    }

    deinit {
        // A loader that is told to stop may release the task by stopping its work.
        if isLoaders, !execution.isComplete { abandon() }
    }

    // Kept out of `deinit`, which would otherwise retain for each task what is used here.
    @inline(never)
    private func abandon() {
        fail(execution.isToStop ? .cancelled : .abandoned)
    }

    /// A reference for code that doesn't have to complete the task.
    package var observer: HTTPTask { HTTPTask(execution, isLoaders: false) }

    /// The identifier of this execution, which distinguishes it from others of the same request. The tasks that loaders pass
    /// on for it have the same.
    public var id: UUID { execution.identity.uuid }

    /// The request.
    public var request: HTTPRequest { execution.request }

    /// Asks the loader that holds the task to stop: calls the cancellation handlers, newest first, before it returns.
    ///
    /// Only the first call before the completion has an effect. The tasks that were passed on for this one are
    /// cancelled first. A task that has not been loaded yet completes with ``HTTPError/Code/cancelled`` when it is.
    public func cancel() { execution.cancel() }

    /// A Boolean value that indicates whether the task was cancelled before it completed. It may still have succeeded.
    ///
    /// See ``addCancellationHandler(_:)``.
    public var isCancelled: Bool { execution.isCancelled }

    /// Completes the task, and calls the completion handlers in order of registration, unless it is complete.
    ///
    /// The tasks that were passed on for this one and have not completed are cancelled.
    ///
    /// - Returns: True for exactly one caller, ever.
    @discardableResult
    public func complete(with result: HTTPResult) -> Bool { execution.complete(with: result) }
}

extension HTTPTask {
    /// Completes the task with an error about its request, unless it is complete.
    ///
    /// - Returns: True for exactly one caller, ever.
    @discardableResult
    public func fail(
        _ code: HTTPError.Code,
        response: HTTPResponse? = nil,
        reason: String? = nil,
        underlying: (any Error)? = nil
    ) -> Bool {
        let error = HTTPError(code, request: request, response: response, reason: reason, underlying: underlying)
        return complete(with: .failure(error))
    }

    /// Completes the task with a response to its request, unless it is complete.
    ///
    /// - Returns: True for exactly one caller, ever.
    @discardableResult
    public func succeed(
        _ status: HTTPStatus,
        headers: HTTPHeaders = HTTPHeaders(),
        body: Data = Data(),
        url: URL? = nil
    ) -> Bool {
        complete(with: .success(.init(request: request, status: status, headers: headers, body: body, url: url)))
    }

    /// Fails the task if it was cancelled, and returns whether it is complete, so that nothing is left to do.
    ///
    /// A terminal loader calls this first, since a task can be cancelled before it is loaded.
    public func failIfCancelled() -> Bool {
        guard execution.isToStop else { return execution.isComplete }
        cancel()
        fail(.cancelled)
        return true
    }
}
