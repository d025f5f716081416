internal import DeferredCore

/// Limits how many requests are in flight at a time. The others wait here.
///
/// They go on in the order in which they came for each host, and the hosts take turns. The host is that of the request,
/// or else that of its ``HTTPRequest/environment``; requests that have neither, since an ``ApplyEnvironment`` further
/// on completes them, count as one more host.
///
/// One that is cancelled while it waits completes with ``HTTPError/Code/cancelled``, and the next loader never sees it.
/// A response that is a stream keeps its place until the body has ended.
///
/// ```swift
/// let throttle = Throttle(maximum: 8)
/// let chain = throttle --> URLSessionLoader()
/// throttle.maximum = 2     // at once, also for those that wait
/// request.isThrottled = false  // goes by, and doesn't count
/// ```
///
/// Copies share the limit and the count.
public struct Throttle: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let gate: ThrottleGate

    /// Creates the loader.
    ///
    /// - Parameter maximum: How many may be in flight; at least 1.
    public init(maximum: Int) {
        gate = ThrottleGate(maximum: maximum)
    }

    /// How many may be in flight; at least 1. What is in flight beyond a lowered limit goes on.
    public var maximum: Int {
        get { gate.maximum }
        nonmutating set { gate.maximum = newValue }
    }

    /// How many wait.
    public var waitingCount: Int { gate.waitingCount }

    /// Passes the task on when it is its turn.
    public func load(_ task: HTTPTask) {
        guard task.request.isThrottled else { return task.pass(to: next) }
        if task.failIfCancelled() { return }
        gate.enter(task, next: next)
    }
}

extension HTTPRequest {
    /// Whether ``Throttle`` counts this request, and makes it wait.
    public var isThrottled: Bool {
        get { self[ThrottledOption.self] }
        set { self[ThrottledOption.self] = newValue }
    }
}

private enum ThrottledOption: HTTPRequestOption {
    static let defaultValue = true
}
