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
    private let locals: TaskLocals?

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
        // Not before it is known that there is a monitor: they cost as much as a task.
        locals = TaskLocals(ofRunningCode: ())
    }

    /// - Parameter failure: The error of the attempt that is retried.
    func report(_ kind: URLClient.Event.Kind, failure: (any Error)? = nil) {
        let isEnd = if case .finished = kind { true } else { false }
        let before = state.withLock { state in
            defer { state.hasFinished = state.hasFinished || isEnd }
            return state
        }
        // A transfer that was cancelled may still report events.
        guard !before.hasFinished else { return }
        let event = URLClient.Event(
            kind: kind,
            request: identifier,
            task: task,
            original: original,
            elapsed: ContinuousClock.now - beginning,
            sent: before.sent,
            received: before.received,
            failure: failure,
            metrics: isEnd ? before.metrics : nil
        )
        locals.restore { monitor(event) }
    }
}

extension EventReporter: ExchangeDelegate {
    var isMeasured: Bool { true }

    func willSend() { report(.sent) }

    func note(_ event: EngineEvent) {
        switch event {
        case .waiting: report(.waitingForConnectivity)
        case .sent(let count, _): state.withLock { $0.sent += count }
        case .head(let head) where head.isHTTP:
            if let age = head.age { report(.cached(age: age, isConfirmed: head.isConfirmed)) }
            report(.response(head))
        case .bytes(let bytes): state.withLock { $0.received += Int64(bytes.count) }
        case .measured(let metrics): state.withLock { $0.metrics = metrics }
        default: break
        }
    }
}
