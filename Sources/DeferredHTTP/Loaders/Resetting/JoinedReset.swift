internal import DeferredCore

/// A reset of a loader that can be in several chains: the resets that overlap are one, and end together.
struct JoinedReset: Sendable {
    /// The chains whose reset has begun, and their next loaders.
    private var chains: [ObjectIdentifier: (identity: ChainIdentity, next: (any HTTPLoader)?)] = [:]
    /// The number of chains whose next loaders have not ended their reset.
    private var pendingCount = 0
    private let end = Deferred<Void>()

    /// Filled by ``finish()``.
    var future: Future<Void> { end.future }

    /// The loaders to reset, one of each chain.
    var nexts: [(any HTTPLoader)?] { chains.values.map(\.next) }

    /// Adds a chain; returns false if its reset has begun already.
    mutating func join(_ chain: ChainIdentity, _ next: (any HTTPLoader)?) -> Bool {
        guard chains[ObjectIdentifier(chain)] == nil else { return false }
        chains[ObjectIdentifier(chain)] = (chain, next)
        pendingCount += 1
        return true
    }

    /// Notes the end of one chain's reset; returns true if it was the last.
    mutating func endOne() -> Bool {
        pendingCount -= 1
        return pendingCount == 0
    }

    func finish() { end.fill() }
}

/// Distinguishes chains that share a loader: every link gets a new identity when its next loader is set.
final class ChainIdentity: Sendable {}
