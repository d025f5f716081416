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
    /// Times count from the creation.
    private struct State {
        var lastActivity = Duration.zero
        var headDeadline: Duration?
        var timer: ClockTimer?
        var expire: (@Sendable (any Error) -> Void)?
        var hasEnded = false
        var isForgiven: (@Sendable () -> Bool)?

        /// True while the platform waits for a network: silence is not counted meanwhile.
        var isWaiting = false

        /// Threads that have read the clock may get here in another order.
        mutating func noteActivity(at now: Duration) {
            lastActivity = max(lastActivity, now)
            isWaiting = false
        }
    }

    /// The deadline that expires first.
    private enum Reason {
        case noHead, silence
    }

    /// Foundation's default: the caller has not chosen a time-out for the request.
    private static let defaultTimeout: TimeInterval = 60

    private let url: URL
    private let idle: Duration?
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch
    private let state: Lock<State>

    init(
        _ deadlines: URLClient.Deadlines,
        _ request: CheckedRequest,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        url = request.url
        let timeout = request.timeout
        // A `Duration` can't hold every value of a `Double`.
        idle = timeout == Self.defaultTimeout ? deadlines.idle : timeout < 0x1p32 ? .seconds(timeout) : .forever
        self.clock = clock
        stopwatch = Stopwatch(clock)
        state = Lock(State(headDeadline: deadlines.connectToHead.flatMap { Self.deadline($0, after: .zero) }))
    }

    /// - Parameter expire: takes the error that ends the attempt. A second call replaces the closure.
    func begin(_ expire: @escaping @Sendable (any Error) -> Void) {
        // The replaced closure is released outside of the lock.
        var replaced: (@Sendable (any Error) -> Void)?
        let now = stopwatch.elapsed
        state.withLock { state in
            guard !state.hasEnded else { return }
            swap(&replaced, &state.expire)
            state.expire = expire
            state.lastActivity = max(state.lastActivity, now)
        }
        arm()
    }

    /// Suspends the idle deadline while `isForgiven` returns true: then the reader causes the silence.
    func forgiveSilence(while isForgiven: @escaping @Sendable () -> Bool) {
        state.withLock { $0.isForgiven = isForgiven }
    }

    func noteActivity() {
        let now = stopwatch.elapsed
        state.withLock { $0.noteActivity(at: now) }
    }

    /// Notes that the platform waits for a network. Until there is activity again, silence is not counted.
    func noteWaiting() {
        state.withLock { $0.isWaiting = true }
    }

    func noteHead() {
        let now = stopwatch.elapsed
        state.withLock { state in
            state.headDeadline = nil
            state.noteActivity(at: now)
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
        let now = stopwatch.elapsed
        let old = state.withLock { state in
            let old = state.timer.take()
            guard !state.hasEnded, let (time, _) = nextDeadline(state) else { return old }
            // `clock` alone would name a function of the C library's, too.
            state.timer = ClockTimer(after: time - now, clock: self.clock) { [weak self] in self?.check() }
            return old
        }
        old?.cancel()
    }

    private func check() {
        if let isForgiven = state.withLock({ $0.isForgiven }), isForgiven() { noteActivity() }
        let now = stopwatch.elapsed
        let verdict = state.withLock { state -> (expire: (@Sendable (any Error) -> Void)?, reason: Reason)? in
            if state.isWaiting { state.lastActivity = max(state.lastActivity, now) }
            guard let (time, reason) = nextDeadline(state), time <= now else { return nil }
            return (state.expire, reason)
        }
        guard let verdict else { return arm() }
        verdict.expire?(URLError(.timedOut, failing: url, description: description(of: verdict.reason)))
    }

    private func nextDeadline(_ state: State) -> (time: Duration, reason: Reason)? {
        let silence = idle.flatMap { Self.deadline($0, after: state.lastActivity) }
        if let head = state.headDeadline, silence.map({ head <= $0 }) ?? true { return (head, .noHead) }
        return silence.map { ($0, .silence) }
    }

    private func description(of reason: Reason) -> String {
        switch reason {
        case .noHead: "The response head did not arrive before the deadline"
        case .silence: "Nothing was sent or received for \(idle ?? .zero)"
        }
    }

    /// Returns the end of `limit`; `nil` if it never comes.
    private static func deadline(_ limit: Duration, after start: Duration) -> Duration? {
        limit < .forever ? start + max(.zero, limit) : nil
    }
}
