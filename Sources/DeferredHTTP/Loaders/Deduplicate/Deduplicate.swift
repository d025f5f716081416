internal import DeferredCore
internal import DeferredTask

/// Loads equal requests that are in flight at the same time only once, and gives the result to all of them.
///
/// Requests are equal when their methods, URLs, headers, bodies and options are. Requests with a safe method are
/// merged, unless ``HTTPRequest/isDeduplicated`` says otherwise. Requests with an option that can't be compared, or
/// whose response is to be a stream or a file, are never merged.
///
/// The result refers to the request that was loaded, which is the first of them.
///
/// Cancelling one of the requests completes only that one, with ``HTTPError/Code/cancelled``. With the last of them, the
/// shared execution is cancelled, and its end, which may be a response, is that of the request; an equal request after
/// that starts a new execution.
///
/// Copies share what is in flight, also in different chains: the request goes down the one that came first. Of a value that
/// is twice in a chain, the first one counts.
///
/// ```swift
/// let deduplicate = Deduplicate()
/// let chain = deduplicate --> URLSessionLoader()
/// deduplicate.mergedCount  // how many requests were saved
/// ```
public struct Deduplicate: HTTPLink {
    private let executions = SharedExecutions()

    /// Creates the loader.
    public init() {}

    /// The number of requests that have joined one that was in flight.
    public var mergedCount: Int { executions.mergedCount }

    /// Passes the task on, unless an equal one is in flight.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        if task.failIfCancelled() { return }
        guard let key = DeduplicationKey(task.request) else {
            return task.pass(to: next)
        }
        executions.join(key, task)?.pass(to: next)
    }
}

extension Deduplicate: ArrangedLink {
    package var sharedState: AnyObject? { executions }
}
