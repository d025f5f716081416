internal import DeferredCore

/// Closures that are called after each change, until they are taken back.
@usableFromInline
package final class Watchers: Sendable {
    private let bodies = Lock<[Int: @Sendable () -> Void]>([:])

    /// One closure's registration. Dropping it has no effect: the closure is kept until it is cancelled.
    @usableFromInline
    package struct Watch: Sendable {
        fileprivate let watchers: Watchers
        fileprivate let key: Int

        package func cancel() { watchers.remove(key) }
    }

    /// Called outside of locks when the first closure is added, and when the last one was removed.
    private let onUse: (@Sendable (_ isWatched: Bool) -> Void)?

    init(onUse: (@Sendable (_ isWatched: Bool) -> Void)? = nil) {
        self.onUse = onUse
    }

    func add(_ body: @escaping @Sendable () -> Void) -> Watch {
        let (key, isFirst) = bodies.withLock { bodies in
            // Watchers are few, so that looking for the highest key costs little.
            let key = (bodies.keys.max() ?? 0) + 1
            bodies[key] = body
            return (key, bodies.count == 1)
        }
        if isFirst { onUse?(true) }
        return Watch(watchers: self, key: key)
    }

    func notify() {
        for body in bodies.withLock({ Array($0.values) }) { body() }
    }

    private func remove(_ key: Int) {
        let (body, isLast) = bodies.withLock { bodies in
            let body = bodies.removeValue(forKey: key)
            return (body, body != nil && bodies.isEmpty)
        }
        withExtendedLifetime(body) {
            if isLast { onUse?(false) }
        }
    }
}
