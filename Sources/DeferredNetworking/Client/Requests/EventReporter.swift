internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Counts a request's bytes, and reports its events to the client's monitor.
final class EventReporter: Sendable {
    private let identifier: UInt64
    private let task: UUID?
    private let original: URLRequest
    private let monitor: @Sendable (URLClient.Event) -> Void
    private let beginning = ContinuousClock.now
    private let locals: TaskLocals? = TaskLocals(ofRunningCode: ())

    private struct State {
        var sent: Int64 = 0
        var received: Int64 = 0
        var hasFinished = false
        var metrics: URLClient.Metrics?
    }

    private let state = Lock(State())

    /// Nil without a monitor.
    init?(
        _ identifier: UInt64,
        for task: UUID?,
        _ original: URLRequest,
        monitor: (@Sendable (URLClient.Event) -> Void)?
    ) {
        guard let monitor else { return nil }
        self.identifier = identifier
        self.task = task
        self.original = original
        self.monitor = monitor
    }

    func received(_ count: Int) {
        state.withLock { $0.received += Int64(count) }
    }

    private static func isEnd(_ kind: URLClient.Event.Kind) -> Bool {
        if case .finished = kind { true } else { false }
    }

    func sent(_ count: Int64) {
        state.withLock { $0.sent += count }
    }

    func measured(_ metrics: URLClient.Metrics) {
        state.withLock { $0.metrics = metrics }
    }

    /// - Parameter failure: The error of the attempt that is retried.
    func report(_ kind: URLClient.Event.Kind, failure: (any Error)? = nil) {
        let (before, isTold) = state.withLock { state in
            let before = state
            if case .finished = kind { state.hasFinished = true }
            return (before, !before.hasFinished)
        }
        // A transfer that was cancelled may still report events.
        guard isTold else { return }
        let event = URLClient.Event(
            kind: kind,
            request: identifier,
            task: task,
            original: original,
            elapsed: ContinuousClock.now - beginning,
            sent: before.sent,
            received: before.received,
            failure: failure,
            metrics: Self.isEnd(kind) ? before.metrics : nil
        )
        locals.restore { monitor(event) }
    }
}
