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
    private let monitor: (@Sendable (URLClient.Event) -> Void)?
    private let beginning = ContinuousClock.now

    private struct State {
        var sent: Int64 = 0
        var received: Int64 = 0
        var hasFinished = false
        var metrics: URLClient.Metrics?
    }

    private let state = Lock(State())

    init(
        _ identifier: UInt64,
        for task: UUID?,
        _ original: URLRequest,
        monitor: (@Sendable (URLClient.Event) -> Void)?
    ) {
        self.identifier = identifier
        self.task = task
        self.original = original
        self.monitor = monitor
    }

    var isMonitored: Bool { monitor != nil }

    func received(_ count: Int) {
        guard monitor != nil else { return }
        state.withLock { $0.received += Int64(count) }
    }

    /// Reports an event with a response, whose object is made only for a monitor.
    func report(_ head: ResponseHead, _ kind: (HTTPURLResponse) -> URLClient.Event.Kind) {
        guard monitor != nil, let response = try? head.httpResponse() else { return }
        report(kind(response))
    }

    private static func isEnd(_ kind: URLClient.Event.Kind) -> Bool {
        if case .finished = kind { true } else { false }
    }

    func sent(_ count: Int64) {
        guard monitor != nil else { return }
        state.withLock { $0.sent += count }
    }

    func measured(_ metrics: URLClient.Metrics) {
        guard monitor != nil else { return }
        state.withLock { $0.metrics = metrics }
    }

    /// - Parameter failure: The error of the attempt that is retried.
    func report(_ kind: URLClient.Event.Kind, failure: (any Error)? = nil) {
        guard let monitor else { return }
        let (before, isTold) = state.withLock { state in
            let before = state
            if case .finished = kind { state.hasFinished = true }
            return (before, !before.hasFinished)
        }
        // A transfer that was cancelled may still report events.
        guard isTold else { return }
        monitor(
            URLClient.Event(
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
        )
    }
}
