internal import DeferredCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Enforces the idle and response-head deadlines of an attempt.
///
/// Activity doesn't move the timer, it only updates the time of the last activity. A timer that fires too early checks
/// this time and waits for the rest. So activity takes no lock.
///
/// It retains the owner of the attempt from ``begin(for:)`` until ``end()``.
final class AttemptDeadlines: Sendable {
    /// The exchange of the attempt.
    protocol Owner: AnyObject, Sendable {
        /// The time since the connection's last byte, as the system tells it. Looked at only when the idle deadline would
        /// expire: many bytes, such as those of a handshake, are no events.
        var silence: Duration? { get }

        /// The URL of the current request, which may be that of a redirect.
        var currentURL: URL { get }

        /// Calls a closure once the engine has read what has come. If the process was stopped for a while, the answer may
        /// have been there in time.
        func afterReading(_ body: @escaping @Sendable () -> Void)

        /// Ends the attempt that has these deadlines.
        func abort(with error: any Error, by deadlines: AttemptDeadlines)
    }

    private struct State {
        var timer: ClockTimer?

        /// Nil before the beginning and after the end.
        var owner: (any Owner)?
        var isForgiven: (@Sendable () -> Bool)?
    }

    /// The deadline that expires first.
    private enum Reason {
        case noHead, silence
    }

    /// Foundation's default: the caller has not chosen a time-out for the request.
    private static let defaultTimeout: TimeInterval = 60

    /// The longest time that the engine has to read what has come, before a deadline is judged.
    private static let readingTime = Duration.seconds(1)

    private let url: URL
    private let idle: Duration?
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch
    private let state = Lock(State())

    // These order nothing else: the timer may see what is newer a moment later.

    /// The time of the last activity, in nanoseconds since the creation.
    private let lastActivity = Atomic<Int64>(0)
    private let hasHead = Atomic(false)

    /// True while the platform waits for a network: silence is not counted meanwhile.
    private let isWaiting = Atomic(false)

    /// The end of the wait for the head, since the creation; nil for none.
    private let headDeadline: Duration?

    /// - Parameters:
    ///   - idle: Takes the place of the request's own time-out, and of that in `deadlines`.
    ///   - margin: Added to all of them.
    init(
        _ deadlines: URLClient.Deadlines,
        _ request: CheckedRequest,
        idle: Duration? = nil,
        margin: Duration = .zero,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        url = request.url
        let timeout = request.timeout
        // A `Duration` can't hold every value of a `Double`.
        let own = timeout < 0x1p32 ? Duration.seconds(timeout) : .forever
        self.idle = (idle ?? (timeout == Self.defaultTimeout ? deadlines.idle : own)).map { min($0, .forever) + margin }
        self.clock = clock
        stopwatch = Stopwatch(clock)
        headDeadline = deadlines.connectToHead.flatMap { Self.deadline($0, after: margin) }
    }

    /// The error of a deadline that expires at once; nil if there is none, and the attempt can begin.
    var passed: (any Error)? {
        guard let (time, reason) = nextDeadline, time <= .zero else { return nil }
        return error(reason, about: url)
    }

    /// Begins. Called once.
    func begin(for owner: some Owner) {
        note(stopwatch.elapsed)
        state.withLock { $0.owner = owner }
        check(at: nextDeadline?.time)
    }

    /// Suspends the idle deadline while `isForgiven` returns true: then the reader causes the silence.
    func forgiveSilence(while isForgiven: @escaping @Sendable () -> Bool) {
        state.withLock { $0.isForgiven = isForgiven }
    }

    func noteActivity() {
        note(stopwatch.elapsed)
        if isWaiting.load(ordering: .relaxed) { isWaiting.store(false, ordering: .relaxed) }
    }

    /// Threads that have read the clock may get here in another order.
    private func note(_ time: Duration) {
        lastActivity.max(Int64(time.attoseconds / 1_000_000_000), ordering: .relaxed)
    }

    /// Notes that the platform waits for a network. Until there is activity again, silence is not counted.
    func noteWaiting() {
        isWaiting.store(true, ordering: .relaxed)
    }

    func noteHead() {
        hasHead.store(true, ordering: .relaxed)
        noteActivity()
    }

    func end() {
        let (timer, _) = state.withLock { ($0.timer.take(), $0.owner.take()) }
        timer?.cancel()
    }

    /// Sets the timer, unless the attempt has ended.
    private func check(at time: Duration?, hasRead: Bool = false) {
        let old = state.withLock { state in
            let old = state.timer.take()
            guard state.owner != nil, let time else { return old }
            state.timer = stopwatch.timer(at: time) { self.check(hasRead: hasRead) }
            return old
        }
        old?.cancel()
    }

    /// - Parameter hasRead: True if the engine has read what has come, or has had the time for it.
    private func check(hasRead: Bool = false) {
        let (isForgiven, owner) = state.withLock { ($0.isForgiven, $0.owner) }
        if isForgiven?() == true { noteActivity() }
        // The system's time is no other clock's.
        let lastByte = clock is ContinuousClock ? owner?.silence : nil
        let now = stopwatch.elapsed
        if let lastByte { note(now - lastByte) }
        if isWaiting.load(ordering: .relaxed) { note(now) }
        guard let (time, reason) = nextDeadline, time <= now else { return check(at: nextDeadline?.time) }
        guard let owner else { return }
        if hasRead {
            owner.abort(with: error(reason, about: owner.currentURL), by: self)
        } else {
            // The engine's thread may be busy for long.
            check(at: now + Self.readingTime, hasRead: true)
            owner.afterReading { self.check(hasRead: true) }
        }
    }

    private var nextDeadline: (time: Duration, reason: Reason)? {
        let last = Duration.nanoseconds(lastActivity.load(ordering: .relaxed))
        let silence = idle.flatMap { Self.deadline($0, after: last) }
        let head = hasHead.load(ordering: .relaxed) ? nil : headDeadline
        if let head, silence.map({ head <= $0 }) ?? true { return (head, .noHead) }
        return silence.map { ($0, .silence) }
    }

    private func error(_ reason: Reason, about url: URL) -> any Error {
        let description =
            switch reason {
            case .noHead: "The response head did not arrive before the deadline"
            case .silence: "Nothing was sent or received for \(idle ?? .zero)"
            }
        return URLError(.timedOut, failing: url, description: description)
    }

    /// Returns the end of `limit`; `nil` if it never comes.
    private static func deadline(_ limit: Duration, after start: Duration) -> Duration? {
        limit < .forever ? start + max(.zero, limit) : nil
    }
}
