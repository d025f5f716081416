internal import DeferredCore
internal import Synchronization

/// Keeps requests out while the chain is being reset.
///
/// It may stand anywhere in a chain: see ``HTTPChain``. A custom loader that holds requests comes after it. A request that
/// arrives during a reset fails with ``HTTPError/Code/resetInProgress``.
///
/// Copies share this: one value in two chains keeps requests out of both while either is reset.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> URLSessionLoader()
/// await chain.reset().value  // everything is cancelled and has ended
/// ```
public struct ResetGuard: HTTPLink {
    let state = ResetState()

    /// Creates the loader.
    public init() {}

    /// Passes the task on, unless a reset is under way.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        if state.isOpen {
            task.pass(to: next)
        } else if !task.failIfCancelled() {
            task.fail(.resetInProgress)
        }
    }
}

extension ResetGuard: ArrangedLink {
    package var sharedState: AnyObject? { state }
}

/// The resets of the chains that contain a ``ResetGuard`` or its copies.
final class ResetState: Sendable {
    private let count = Atomic(0)

    // Relaxed: a request that arrives on another thread at the same moment could as well have come before.
    var isOpen: Bool { count.load(ordering: .relaxed) == 0 }

    /// Keeps requests out until ``reopen()``.
    func close() { count.add(1, ordering: .relaxed) }

    func reopen() { count.subtract(1, ordering: .relaxed) }
}
