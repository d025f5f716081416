public import DeferredCore

/// Keeps requests out while the chain is being reset, and merges resets that overlap.
///
/// It may stand anywhere in a chain: the shipped loaders before it that hold requests keep them out, too. A custom loader
/// that does so comes after it. A request that arrives during a reset fails with
/// ``HTTPError/Code/resetInProgress``; a reset that begins during another one joins it.
///
/// Copies share the reset: one value in two chains keeps requests out of both while either is reset.
///
/// - Important: Two chains that share several resettable values must contain them in the same order. Otherwise a reset
///   waits for itself.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> URLSessionLoader()
/// await chain.reset().value  // everything is cancelled and has ended
/// ```
public struct ResetGuard: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)? {
        didSet {
            following = NextLoader(next)
            chain = ChainIdentity()
            occursAgain = next?.leads(to: state) == true
        }
    }
    /// True if the last occurrence in the chain keeps requests out for this one, too.
    private var occursAgain = false
    private var following = NextLoader()
    private var chain = ChainIdentity()
    let state = ResetState()

    /// Creates the loader.
    public init() {}

    /// Passes the task on, unless a reset is under way.
    public func load(_ task: HTTPTask) {
        if state.isOpen {
            task.pass(to: following)
        } else if !task.failIfCancelled() {
            task.fail(.resetInProgress)
        }
    }

    /// Resets the loaders after this one, or joins a reset under way.
    ///
    /// - Returns: A future that is filled when requests are let in again.
    public func reset() -> Future<Void> { occursAgain ? resetSuccessors() : state.reset(chain, next) }
}

extension ResetGuard: StateSharing {
    var sharedState: AnyObject { state }
}

/// The reset of a ``ResetGuard`` and its copies.
final class ResetState: Sendable {
    private struct State: Sendable {
        var reset: JoinedReset?
        /// The number of loaders before the ``ResetGuard`` that are being reset.
        var holders = 0
    }

    private let running = Lock(State())

    var isOpen: Bool { running.withLock { $0.reset == nil && $0.holders == 0 } }

    /// Keeps requests out until ``release()``.
    func hold() { running.withLock { $0.holders += 1 } }

    func release() { running.withLock { $0.holders -= 1 } }

    func reset(_ chain: ChainIdentity, _ next: (any HTTPLoader)?) -> Future<Void> {
        let (isNew, future) = running.withLock { running in
            var reset = running.reset.take() ?? JoinedReset()
            let isNew = reset.join(chain, next)
            running.reset = reset
            return (isNew, reset.future)
        }
        if isNew {
            if let next { next.reset().upon(.immediate) { self.finish() } } else { finish() }
        }
        return future
    }

    private func finish() {
        running.withLock { $0.reset?.endOne() == true ? $0.reset.take() : nil }?.finish()
    }
}
