public import DeferredCore

/// An executor that runs nothing until a test says so, and then on the test's thread.
///
/// For what happens between a result and its delivery: a handler that is taken back, a view that goes, a newer request.
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
/// **Thread safety:** all members can be used from any thread. However many of them run closures, each closure runs
/// once, and starts in the order of submission. No lock is held meanwhile. **Lifetime:** a closure is kept until it has
/// run or is removed, or the executor goes.
public final class ManualExecutor: Executor {
    private let queue = Lock(BodyQueue())

    /// Creates an executor without closures.
    public init() {}

    /// Keeps `body` until it is run by hand.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        queue.withLock { $0.append(body) }
    }

    /// How many closures wait to be run.
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

    /// Runs closures until none waits, including those submitted meanwhile.
    ///
    /// - Returns: How many it ran.
    @discardableResult
    public func runAll() -> Int {
        var count = 0
        while run() { count += 1 }
        return count
    }

    /// Lets go of the closures that wait. They will never run.
    public func removeAll() {
        // Freed outside of the lock, since that may run anything.
        let removed = queue.withLock { queue in
            defer { queue = BodyQueue() }
            return queue
        }
        withExtendedLifetime(removed) {}
    }
}

/// Closures, first in, first out; both ends in constant time.
private struct BodyQueue: Sendable {
    typealias Body = @Sendable () -> Void

    /// Those before `head` have been taken.
    private var bodies: [Body?] = []
    private var head = 0

    var count: Int { bodies.count - head }

    mutating func append(_ body: @escaping Body) {
        bodies.append(body)
    }

    mutating func popFirst() -> Body? {
        guard head < bodies.count else { return nil }
        defer {
            head += 1
            if head * 2 > bodies.count {
                bodies.removeFirst(head)
                head = 0
            }
        }
        return bodies[head].take()
    }
}
