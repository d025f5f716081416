public import DeferredCore

/// An executor that runs nothing until a test tells it to, and then on the test's thread.
///
/// Use it to test what happens between a result and its delivery: a handler is cancelled, a view disappears, or a newer
/// request starts.
///
/// ```swift
/// let executor = ManualExecutor()
/// let registration = answer.upon(executor) { show($0) }
/// answer.fill(with: 42)
/// #expect(executor.count == 1)  // on its way
/// registration.cancel()
/// executor.runAll()  // shows nothing
/// ```
///
/// **Thread safety:** all members can be used from any thread. However many threads run closures, each closure runs
/// once, and they start in the order of submission. No lock is held while a closure runs. **Lifetime:** a closure is
/// kept until it has run, is removed, or the executor is released. A handler keeps its executor, so one on which
/// handlers still wait is not released before ``removeAll()``.
public final class ManualExecutor: Executor {
    private let queue = Lock(Queue<@Sendable () -> Void>())

    /// Creates an executor without closures.
    public init() {}

    /// Keeps `body` until it is run by hand.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        queue.withLock { $0.append(body) }
    }

    /// The number of closures that wait to be run.
    public var count: Int { queue.withLock { $0.count } }

    /// Runs the closure that has waited longest.
    ///
    /// - Returns: False if there was none.
    @discardableResult
    public func run() -> Bool {
        guard let body = queue.withLock({ $0.popFirst() }) else { return false }
        body()
        return true
    }

    /// Runs closures until none is left, including those submitted meanwhile.
    ///
    /// - Returns: The number of closures that it ran.
    @discardableResult
    public func runAll() -> Int {
        var count = 0
        while run() { count += 1 }
        return count
    }

    /// Releases the waiting closures without running them.
    public func removeAll() {
        // Released outside of the lock, since a closure's captures can run any code when they are deinitialised.
        let removed = queue.withLock { queue in
            defer { queue = Queue() }
            return queue
        }
        withExtendedLifetime(removed) {}
    }
}
