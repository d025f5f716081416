internal import DeferredCore
internal import DeferredHTTP

/// One request on its way through a ``Cache``.
final class CacheQuery: Sendable {
    let task: HTTPTask
    let next: any HTTPLoader
    let key: CacheKey
    let asked: CacheRequest
    private let waiting = Lock(Waiting())

    /// The part of its way that a request has behind it, on which depends whether it waits for an equal one.
    enum Stage: Sendable {
        /// Waits for an equal one; is looked up once more if one has ended meanwhile, after the first `closedCount`.
        case new(closedCount: Int)

        /// Was looked up twice, and waits for an equal one. A third time would be of no use: with much traffic, there is
        /// always a shared fetch that has just ended.
        case late

        /// Waits for none, since it has done so in vain. A response that has come meanwhile is its answer although it may
        /// be stale.
        case alone(after: Wait?)
    }

    /// The time that a request has waited for an equal one.
    struct Wait: Sendable {
        let shared: SharedFetch
        let start: CacheInstant

        /// Returns whether a stored response was asked for with that request or later, and has come since this one waits.
        /// The fetch may have ended with a response that is older than the stored one, which has come long before.
        func hasBrought(_ head: StoredHead) -> Bool {
            shared.start.isNotAfter(head.requestTime) && start.isNotAfter(head.responseTime)
        }
    }

    /// The registration that completes the task when it is cancelled while the cache holds it.
    private struct Waiting: Sendable {
        var registration: Registration?
    }

    init(_ task: HTTPTask, _ next: any HTTPLoader, _ key: CacheKey, _ asked: CacheRequest) {
        (self.task, self.next, self.key, self.asked) = (task, next, key, asked)
    }

    /// Completes the task if it is cancelled from now on, until ``endWaiting()``.
    ///
    /// - Parameter release: Called if that has happened.
    func beginWaiting(_ release: @escaping @Sendable () -> Void = {}) {
        let registration = task.addCancellationHandler { [weak task] in
            task?.fail(.cancelled)
            release()
        }
        let old = waiting.withLock { waiting in
            defer { waiting.registration = registration }
            return waiting.registration
        }
        old?.cancel()
    }

    /// Leaves a cancellation to the loaders below.
    func endWaiting() {
        waiting.withLock { $0.registration.take() }?.cancel()
    }
}
