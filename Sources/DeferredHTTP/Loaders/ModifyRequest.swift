/// Changes requests before they are passed on.
///
/// ```swift
/// let chain = ModifyRequest { $0.headers["X-Request-ID"] = $0.id.uuidString } --> URLSessionLoader()
/// ```
///
/// An error that the closure throws fails the task with ``HTTPError/Code/invalidRequest`` and the error as its cause;
/// the next loader doesn't see the task.
public struct ModifyRequest: HTTPLink, ArrangedLink {
    private let change: @Sendable (inout HTTPRequest) throws -> Void

    /// Creates the loader.
    ///
    /// - Parameter change: Called for each request that isn't cancelled, on the thread that loads it. Kept as long as
    ///   the loader.
    public init(_ change: @escaping @Sendable (inout HTTPRequest) throws -> Void) {
        self.change = change
    }

    /// Passes the changed request on.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        if task.failIfCancelled() { return }
        var request = task.request
        do {
            try change(&request)
            task.send(request, to: next)
        } catch {
            task.fail(.invalidRequest, underlying: error)
        }
    }
}
