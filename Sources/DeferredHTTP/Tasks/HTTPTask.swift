public import DeferredCore
public import Foundation

/// One execution of a request: what loaders pass along a chain, and what a caller cancels and waits for.
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
/// ``complete(with:)`` or ``fail(_:response:underlying:)``. The first completion counts. Cancelling is a request: the
/// loader that holds the task at that moment decides how it ends, by a handler (``addCancellationHandler(_:)``).
///
/// **Thread safety:** all members are safe to use from any thread; handlers are called without a lock being held.
/// **Lifetime:** all handlers are let go at the completion. A task that its loader lets go of before that completes
/// with ``HTTPError/Code/abandoned``, although the caller may still hold what `load` gave him; with
/// ``HTTPError/Code/cancelled`` if it was cancelled.
public final class HTTPTask: FutureProtocol, Cancellable, Identifiable {
    let execution: HTTPExecution

    /// Whether whoever has this is to complete the execution; a caller is not.
    private let isLoaders: Bool

    /// Creates a task, to be loaded with ``HTTPLoader/load(_:)-(HTTPTask)``.
    ///
    /// The loader knows it by this very object. Keep it only if you want to be the last to let go of it, and use
    /// ``HTTPLoader/load(_:)-(HTTPRequest)`` otherwise.
    public convenience init(_ request: HTTPRequest) {
        self.init(HTTPExecution(request), isLoaders: true)
    }

    init(_ execution: HTTPExecution, isLoaders: Bool) {
        self.execution = execution
        self.isLoaders = isLoaders
    }

    deinit {
        // A loader that stops its work when it is told to may thereby let go of the task.
        if isLoaders, !execution.isComplete { execution.fail(execution.isToStop ? .cancelled : .abandoned) }
    }

    /// A reference for somebody who doesn't have to complete the task.
    var observer: HTTPTask { HTTPTask(execution, isLoaders: false) }

    /// Tells this execution from others, also of the same request.
    public var id: UUID { execution.identity.uuid }

    /// The request.
    public var request: HTTPRequest { execution.request }

    /// Asks whoever holds the task to stop: calls the cancellation handlers, newest first, before it returns.
    ///
    /// Once, and only before the completion. What was passed on for this task is cancelled first. A task that was not
    /// loaded yet completes with ``HTTPError/Code/cancelled`` when it is.
    public func cancel() { execution.cancel() }

    /// True if the task was cancelled before it was completed. It may still have succeeded.
    public var isCancelled: Bool { execution.isCancelled }

    /// Completes the task, and calls the completion handlers in order of registration, unless somebody did before.
    ///
    /// What was passed on for this task and is still on its way is cancelled.
    ///
    /// - Returns: True for exactly one caller, ever.
    @discardableResult
    public func complete(with result: HTTPResult) -> Bool { execution.complete(with: result) }
}
