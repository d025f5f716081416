internal import DeferredCore
internal import DeferredTask

/// Loads equal requests that are in flight at the same time once, and gives the result to all of them.
///
/// Requests are equal when their methods, URLs, headers, bodies and options are. Those with a safe method are merged,
/// unless ``HTTPRequest/isDeduplicated`` says otherwise, and never those with an option that can't be compared, or
/// whose response is to be a stream or a file.
///
/// The result names the request that was loaded, which is the first of them.
///
/// Cancelling one of them completes that one, with ``HTTPError/Code/cancelled``, and disturbs no other. The shared
/// execution is cancelled with the last; an equal request after that is a new execution.
///
/// ```swift
/// let deduplicate = Deduplicate()
/// let chain = deduplicate --> URLSessionLoader()
/// deduplicate.mergedCount  // how many requests were saved
/// ```
public struct Deduplicate: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let executions = SharedExecutions()

    /// Creates the loader.
    public init() {}

    /// How many requests have joined one that was in flight.
    public var mergedCount: Int { executions.mergedCount }

    /// Passes the task on, unless an equal one is in flight.
    public func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        guard let key = DeduplicationKey(task.request) else { return task.pass(to: next) }
        executions.join(key, task)?.pass(to: next)
    }
}
