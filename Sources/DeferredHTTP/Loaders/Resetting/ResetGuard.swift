public import DeferredCore

/// Keeps requests out while the chain is being reset, and merges resets that overlap.
///
/// The first loader of a chain. A request that arrives during a reset fails with ``HTTPError/Code/resetInProgress``; a
/// reset that begins during another one is that one.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> URLSessionLoader()
/// await chain.reset().value  // everything is cancelled and has ended
/// ```
public struct ResetGuard: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let state = ResetState()

    /// Creates the loader.
    public init() {}

    /// Passes the task on, unless a reset is under way.
    public func load(_ task: HTTPTask) {
        if state.running.withLock({ $0 != nil }) {
            if !task.failIfCancelled() { task.fail(.resetInProgress) }
        } else {
            task.pass(to: next)
        }
    }

    /// Resets the other loaders, unless that is under way.
    ///
    /// - Returns: A future that is filled when requests are let in again.
    public func reset() -> Future<Void> {
        let reset = Deferred<Void>()
        let other = state.running.withLock { running in
            defer { running = running ?? reset }
            return running
        }
        if let other { return other.future }
        let end: @Sendable () -> Void = { [state] in
            state.running.withLock { $0 = nil }
            reset.fill()
        }
        if let next { next.reset().upon(.immediate, execute: end) } else { end() }
        return reset.future
    }
}

/// What the copies of a ``ResetGuard`` share: the reset under way.
private final class ResetState: Sendable {
    let running = Lock<Deferred<Void>?>(nil)
}
