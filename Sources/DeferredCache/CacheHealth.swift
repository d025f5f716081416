internal import DeferredCore
public import Foundation

extension Cache {
    /// Tells whether a cache stores responses, and what has kept it from that.
    ///
    /// A cache that can't store doesn't fail requests. So a folder that can't be used, a disk that is full, or a permission that
    /// went would look like a cache that is seldom asked.
    public struct Health: Sendable, Equatable, CustomStringConvertible {
        /// False if the last attempt to store a response has failed, or the folder can't be opened.
        public internal(set) var isStoring = true

        /// The last failure, which may be over; `nil` if there was none.
        public internal(set) var lastFailure: Failure?

        /// Something that has kept a response from being stored.
        public struct Failure: Sendable, Equatable {
            /// The time by the cache's clock.
            public let date: Date
            /// The operation, and the system's reason.
            public let reason: String
        }

        /// The state in a line, for a log.
        public var description: String {
            let failure = lastFailure.map { "\($0.reason) at \($0.date.ISO8601Format())" }
            if isStoring { return "the cache stores responses" + (failure.map { "; the last failure: \($0)" } ?? "") }
            return "the cache stores nothing" + (failure.map { ": \($0)" } ?? "")
        }
    }
}

/// The health of a store, and its observer.
final class HealthMonitor: Sendable {
    private struct State: Sendable {
        var health = Cache.Health()
        var observer: (@Sendable (Cache.Health) -> Void)?
    }

    private let queue: DispatchQueue
    private let now: @Sendable () -> CacheInstant
    private let state = Lock(State())

    /// - Parameter queue: Calls the observer: whoever has failed may hold locks, and the observer may use the cache.
    init(
        on queue: DispatchQueue = .global(),
        now: @escaping @Sendable () -> CacheInstant = { CacheInstant(wall: Date(), steady: .zero) }
    ) {
        self.queue = queue
        self.now = now
    }

    var health: Cache.Health { state.withLock { $0.health } }

    /// Calls `observer` whenever storing begins to fail, or works again; at once if it fails already.
    func observe(_ observer: @escaping @Sendable (Cache.Health) -> Void) {
        let health = state.withLock { state in
            state.observer = observer
            return state.health
        }
        if !health.isStoring { observer(health) }
    }

    func failed(_ reason: String) {
        note(.init(date: Date(timeIntervalSince1970: Double(now().wall) / 1_000), reason: reason))
    }

    func stored() { note(nil) }

    private func note(_ failure: Cache.Health.Failure?) {
        let observer = state.withLock { state in
            let isNew = state.health.isStoring != (failure == nil)
            state.health.isStoring = failure == nil
            state.health.lastFailure = failure ?? state.health.lastFailure
            return isNew ? state.observer : nil
        }
        guard let observer else { return }
        // The newest state, so that of two calls at the same time, the later one tells the truth.
        queue.async { observer(self.health) }
    }
}
