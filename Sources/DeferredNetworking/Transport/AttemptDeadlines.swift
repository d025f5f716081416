internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Enforces an attempt's idle and response-head deadlines.
///
/// Activity doesn't move the timer, it only updates the time of the last activity. A timer that fires too early checks
/// this time and waits for the rest.
final class AttemptDeadlines: Sendable {
    private struct State {
        var lastActivity: ContinuousClock.Instant
        var headDeadline: ContinuousClock.Instant?
        var timer: ClockTimer?
        var expire: (@Sendable (any Error) -> Void)?
        var hasEnded = false
        var isForgiven: (@Sendable () -> Bool)?

        /// True while the platform waits for a network: silence is not counted meanwhile.
        var isWaiting = false
    }

    /// Foundation's default: the caller has not chosen a time-out for the request.
    private static let defaultTimeout: TimeInterval = 60

    private let url: URL
    private let idle: Duration?
    private let state: Lock<State>

    init(_ deadlines: URLClient.Deadlines, _ request: CheckedRequest) {
        url = request.url
        let timeout = request.timeout
        // A `Duration` can't hold every value of a `Double`.
        idle = timeout == Self.defaultTimeout ? deadlines.idle : timeout < 0x1p32 ? .seconds(timeout) : .forever
        let now = ContinuousClock.now
        state = Lock(
            State(lastActivity: now, headDeadline: deadlines.connectToHead.flatMap { now.deadline(after: $0) })
        )
    }

    /// - Parameter expire: takes the error that ends the attempt. A second call replaces the closure.
    func begin(_ expire: @escaping @Sendable (any Error) -> Void) {
        // The replaced closure is released outside of the lock.
        var replaced: (@Sendable (any Error) -> Void)?
        state.withLock { state in
            guard !state.hasEnded else { return }
            swap(&replaced, &state.expire)
            state.expire = expire
            state.lastActivity = ContinuousClock.now
        }
        arm()
    }

    /// Suspends the idle deadline while `isForgiven` returns true: then the reader causes the silence.
    func forgiveSilence(while isForgiven: @escaping @Sendable () -> Bool) {
        state.withLock { $0.isForgiven = isForgiven }
    }

    func noteActivity() {
        state.withLock { state in
            state.lastActivity = ContinuousClock.now
            state.isWaiting = false
        }
    }

    /// Notes that the platform waits for a network. Until there is activity again, silence is not counted.
    func noteWaiting() {
        state.withLock { $0.isWaiting = true }
    }

    func noteHead() {
        state.withLock { state in
            state.headDeadline = nil
            state.lastActivity = ContinuousClock.now
            state.isWaiting = false
        }
    }

    func end() {
        let (timer, _) = state.withLock { state in
            state.hasEnded = true
            return (state.timer.take(), state.expire.take())
        }
        timer?.cancel()
    }

    private func arm() {
        let old = state.withLock { state in
            let old = state.timer.take()
            guard !state.hasEnded, let (time, _) = nextDeadline(state) else { return old }
            state.timer = ClockTimer(at: time) { [weak self] in self?.check() }
            return old
        }
        old?.cancel()
    }

    private func check() {
        if let isForgiven = state.withLock({ $0.isForgiven }), isForgiven() { noteActivity() }
        state.withLock { state in
            if state.isWaiting { state.lastActivity = ContinuousClock.now }
        }
        let verdict = state.withLock { state -> (expire: (@Sendable (any Error) -> Void)?, reason: String)? in
            guard let (time, reason) = nextDeadline(state), time <= ContinuousClock.now else { return nil }
            return (state.expire, reason)
        }
        guard let verdict else { return arm() }
        verdict.expire?(URLError(.timedOut, failing: url, description: verdict.reason))
    }

    private func nextDeadline(_ state: State) -> (time: ContinuousClock.Instant, reason: String)? {
        let silence = idle.flatMap { state.lastActivity.deadline(after: $0) }
        if let head = state.headDeadline, silence.map({ head <= $0 }) ?? true {
            return (head, "The response head did not arrive before the deadline")
        }
        return silence.map { ($0, "Nothing was sent or received for \(idle ?? .zero)") }
    }
}
