internal import DeferredCore
internal import DeferredHTTP
internal import DeferredTask

/// One request on its way through a ``Cache``.
final class CacheQuery: Sendable {
    let task: HTTPTask
    let next: any HTTPLoader
    let key: CacheKey
    let asked: CacheRequest
    private let caller: ProgressReporter?
    private let state: Lock<State>

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

    private struct State: Sendable {
        /// Completes the task when it is cancelled while the cache holds it.
        var registration: Registration?
        /// `nil` if nobody wants to know.
        var status: CacheStatus?
    }

    /// Stands for the execution that a caller has loaded, or for the client's task, of which the request is a part.
    var whole: ProgressReporter { caller ?? task.execution.reporter }

    /// - Parameters:
    ///   - caller: Stands for the client's task; `nil` if the request comes from a chain.
    ///   - statusName: The cache's name in the field `Cache-Status`; `nil` if there is to be none.
    init(
        _ task: HTTPTask,
        _ next: any HTTPLoader,
        _ key: CacheKey,
        _ asked: CacheRequest,
        caller: ProgressReporter? = nil,
        statusName: String? = nil
    ) {
        self.task = task
        self.next = next
        self.key = key
        self.asked = asked
        self.caller = caller
        state = Lock(State(status: statusName.map { CacheStatus(name: $0) }))
    }

    /// Notes what the cache does with the request.
    func note(_ change: (inout CacheStatus) -> Void) {
        state.withLock { if $0.status != nil { change(&$0.status!) } }
    }

    /// Completes the task with a response.
    ///
    /// - Parameter timeLeft: The milliseconds for which a stored response is still fresh.
    func succeed(_ response: HTTPResponse, timeLeft: @autoclosure () -> Int64? = nil) {
        var response = response
        if let status = state.withLock({ $0.status }) {
            var headers = response.headers
            headers.add(name: "Cache-Status", value: status.member(response, timeLeft: timeLeft()))
            response = response.with(headers: headers)
        }
        task.complete(with: .success(response))
    }

    /// Completes the task if it is cancelled from now on, until ``endWaiting()``.
    ///
    /// - Parameter release: Called if that has happened.
    func beginWaiting(_ release: @escaping @Sendable () -> Void = {}) {
        let registration = task.addCancellationHandler { [weak task] in
            task?.fail(.cancelled)
            release()
        }
        let old = state.withLock { state in
            defer { state.registration = registration }
            return state.registration
        }
        old?.cancel()
    }

    /// Leaves a cancellation to the loaders below.
    func endWaiting() {
        state.withLock { $0.registration.take() }?.cancel()
    }
}
