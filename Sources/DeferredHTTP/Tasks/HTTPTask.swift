public import DeferredCore
internal import DeferredTask
public import Foundation

/// One execution of a request: what loaders pass along a chain, and what a caller cancels and waits for.
///
/// A caller gets it from ``HTTPLoader/load(_:)-(HTTPRequest)``, and reads the result as that of any future, or composes
/// further with ``task``.
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
/// **Lifetime:** all handlers are let go at the completion. A task whose last reference goes before that completes with
/// ``HTTPError/Code/abandoned``.
public final class HTTPTask: FutureProtocol, Cancellable, Identifiable {
    /// Tells this execution from others, also of the same request.
    public let id = UUID()

    /// What to load.
    public let request: HTTPRequest

    let reporter: ProgressReporter
    private let cancellation = FutureStorage<CancellationToken.Ending>()
    let completion = FutureStorage<HTTPResult>()
    private let machine = Lock(HTTPTaskStateMachine())

    /// Creates a task, to be loaded with ``HTTPLoader/load(_:)-(HTTPTask)``.
    public convenience init(_ request: HTTPRequest) {
        self.init(request, reporter: ProgressReporter(unit: .bytes))
    }

    init(_ request: HTTPRequest, reporter: ProgressReporter) {
        self.request = request
        self.reporter = reporter
    }

    deinit {
        perform(machine.withLock { $0.complete() }, .failure(HTTPError(.abandoned, request: request)))
    }

    /// Cancelled with the task, before its completion.
    var token: CancellationToken { CancellationToken(cancellation) }

    /// Asks whoever holds the task to stop: calls the cancellation handlers, newest first, before it returns.
    ///
    /// Once, and only before the completion. A task that was not loaded yet completes with
    /// ``HTTPError/Code/cancelled`` when it is.
    public func cancel() {
        perform(machine.withLock { $0.cancel() })
    }

    /// Whether the task was cancelled before it was completed. It may still have succeeded.
    public var isCancelled: Bool { machine.withLock { $0.isCancelled } }

    /// Completes the task, and calls the completion handlers in order of registration, unless somebody did before.
    ///
    /// - Returns: True for exactly one caller, ever.
    @discardableResult
    public func complete(with result: HTTPResult) -> Bool {
        let action = machine.withLock { $0.complete() }
        perform(action, result)
        return action == .deliver
    }

    private func perform(_ action: HTTPTaskStateMachine.Action, _ result: HTTPResult? = nil) {
        switch action {
        case .nothing:
            break
        case .stop:
            _ = cancellation.fillNewestFirst(with: .cancelled)
        case .deliver:
            cancellation.fillDroppingHandlers(with: .abandoned)
            if let result { completion.fulfil(with: result) }
        }
    }
}
