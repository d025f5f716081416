public import DeferredCore

/// Loads a request with another loader if the next one fails.
///
/// ```swift
/// let chain = Retry() --> Fallback(to: mirror) --> ApplyEnvironment(primary) --> URLSessionLoader()
/// ```
///
/// The other loader is a whole chain, with a terminal loader of its own; its result is the result. A request that is
/// cancelled goes to no other loader, nor does one whose body can be sent only once. A reset comes to both.
public struct Fallback: HTTPLink {
    /// The loader that loads each request first, set by `-->`.
    public var next: (any HTTPLoader)? {
        didSet {
            following = NextLoader(next)
            later = LaterResets(after: next)
        }
    }
    private var following = NextLoader()
    private var later = LaterResets()
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

    /// Returns true if there was no connection.
    @Sendable public static func isUnconnected(_ result: HTTPResult) -> Bool {
        if case .failure(let error) = result { error.code == .cannotConnect } else { false }
    }

    /// The next loader and the other one.
    public var successors: [any HTTPLoader] { (next.map { [$0] } ?? []) + [other] }

    /// Passes the task on to the next loader and, if that fails, to the other one.
    public func load(_ task: HTTPTask) {
        guard later.admit(task) else { return }
        task.send(task.request, to: following) { [other, hasFailed] result in
            guard !task.execution.isToStop, !task.request.body.isOneShot, hasFailed(result) else {
                task.complete(with: result)
                return
            }
            result.arrived?.stream?.cancel()
            task.execution.later { _ = task.send(task.request, to: NextLoader(other)) }
        }
    }

    /// Resets the next loader and the other one, at the same time.
    public func reset() -> Future<Void> { later.reset { resetSuccessors() } }
}
