/// Loads a request with another loader if the next one fails.
///
/// ```swift
/// let chain = Retry() --> Fallback(to: mirror) --> ApplyEnvironment(primary) --> URLSessionLoader()
/// ```
///
/// The other loader is a whole chain, with a terminal loader of its own; its result is the result. A request that is
/// cancelled goes to no other loader, nor does one whose body can be sent only once. A reset of the chain resets both.
public struct Fallback: HTTPLink, ArrangedLink {
    private let other: any HTTPLoader
    private let hasFailed: @Sendable (HTTPResult) -> Bool

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - other: Loads the requests that have failed.
    ///   - hasFailed: Returns true for the results after which the other loader is tried; by default, for failures to
    ///     connect, after which nothing can have been sent. Called on the thread that completes. A response that is
    ///     not the result is dropped.
    public init(
        to other: any HTTPLoader,
        when hasFailed: @escaping @Sendable (HTTPResult) -> Bool = Self.isUnconnected
    ) {
        self.other = other
        self.hasFailed = hasFailed
    }

    /// Returns true if there was no connection; false for a chain that can't work, which is to be mended.
    @Sendable @usableFromInline static func isUnconnected(_ result: HTTPResult) -> Bool {
        if case .failure(let error) = result { error.code == .cannotConnect && !error.isOfInvalidChain } else { false }
    }

    /// The other loader.
    public var successors: [any HTTPLoader] { [other] }

    /// Passes the task on to the next loader and, if that fails, to the other one.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        task.send(task.request, to: next) { [other, hasFailed] result in
            guard !task.execution.isToStop, !task.request.body.isOneShot, hasFailed(result) else {
                task.complete(with: result)
                return
            }
            result.arrived?.stream?.cancel()
            task.execution.later { _ = task.send(task.request, to: other) }
        }
    }
}
