import DeferredCore
import DeferredHTTP

/// A chain for the closures of its own loaders. The test empties it at its end, since the chain would keep itself.
final class ChainReference: Sendable {
    private let reference = Lock<(any HTTPLoader)?>(nil)

    var chain: (any HTTPLoader)? {
        get { reference.withLock { $0 } }
        set {
            let old = reference.withLock { reference in
                defer { reference = newValue }
                return reference
            }
            withExtendedLifetime(old) {}
        }
    }
}
