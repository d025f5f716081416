internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Keeps the deadlines of one attempt: the silence that ends it, and the time to its head.
///
/// Activity moves no timer, it only notes the time. A timer that fires too early looks at that and waits for the rest.
final class AttemptDeadlines: Sendable {
    private struct State {
        var lastActivity: UInt64
        var headDeadline: UInt64?
        var timer: UInt64?
        var expire: (@Sendable (any Error) -> Void)?
        var hasEnded = false
    }

    /// Foundation's default, which tells that nobody has chosen a time-out for the request.
    private static let defaultTimeout: TimeInterval = 60

    /// More than a century; a `Duration` can't hold every number of seconds.
    private static let longest: TimeInterval = 4_294_967_296

    private let url: URL
    private let idle: Duration?
    private let state: Lock<State>

    init(_ deadlines: URLClient.Deadlines, _ request: CheckedRequest) {
        url = request.url
        idle = request.timeout == Self.defaultTimeout ? deadlines.idle : .seconds(min(request.timeout, Self.longest))
        state = Lock(
            State(
                lastActivity: DeadlineTimer.now,
                headDeadline: deadlines.connectToHead.map(DeadlineTimer.time(after:))
            )
        )
    }

    /// - Parameter expire: takes the error that ends the attempt. A second call replaces it.
    func begin(_ expire: @escaping @Sendable (any Error) -> Void) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.expire = expire
            state.lastActivity = DeadlineTimer.now
        }
        arm()
    }

    func noteActivity() {
        state.withLock { $0.lastActivity = DeadlineTimer.now }
    }

    func noteHead() {
        state.withLock { state in
            state.headDeadline = nil
            state.lastActivity = DeadlineTimer.now
        }
    }

    func end() {
        let timer = state.withLock { state in
            state.hasEnded = true
            state.expire = nil
            return state.timer.take()
        }
        if let timer {
            DeadlineTimer.shared.cancel(timer)
        }
    }

    private func arm() {
        let old = state.withLock { state in
            let old = state.timer.take()
            guard !state.hasEnded, let (time, _) = nextDeadline(state) else { return old }
            state.timer = DeadlineTimer.shared.schedule(at: time) { [weak self] in self?.check() }
            return old
        }
        if let old {
            DeadlineTimer.shared.cancel(old)
        }
    }

    private func check() {
        let verdict = state.withLock { state -> (expire: (@Sendable (any Error) -> Void)?, reason: String)? in
            guard let (time, reason) = nextDeadline(state), time <= DeadlineTimer.now else { return nil }
            return (state.expire, reason)
        }
        guard let verdict else { return arm() }
        verdict.expire?(URLError(.timedOut, failing: url, description: verdict.reason))
    }

    private func nextDeadline(_ state: State) -> (time: UInt64, reason: String)? {
        let silence = idle.map { DeadlineTimer.time($0, after: state.lastActivity) }
        if let head = state.headDeadline, head <= silence ?? .max {
            return (head, "The head of the response did not come in time")
        }
        return silence.map { ($0, "Nothing was sent or received for \(idle ?? .zero)") }
    }
}
