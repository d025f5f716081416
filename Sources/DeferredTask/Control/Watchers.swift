internal import DeferredCore

/// Closures that are called after each change, until they are taken back.
@usableFromInline
package final class Watchers: Sendable {
    private struct State: Sendable {
        var bodies: [Int: @Sendable () -> Void] = [:]
        var lastKey = 0
    }

    private let state = Lock(State())

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
        let (key, isFirst) = state.withLock { state in
            state.lastKey += 1
            state.bodies[state.lastKey] = body
            return (state.lastKey, state.bodies.count == 1)
        }
        if isFirst { onUse?(true) }
        return Watch(watchers: self, key: key)
    }

    var isEmpty: Bool { state.withLock { $0.bodies.isEmpty } }

    func notify() {
        for body in state.withLock({ Array($0.bodies.values) }) { body() }
    }

    private func remove(_ key: Int) {
        let (body, isLast) = state.withLock { state in
            let body = state.bodies.removeValue(forKey: key)
            return (body, body != nil && state.bodies.isEmpty)
        }
        withExtendedLifetime(body) {
            if isLast { onUse?(false) }
        }
    }
}
