internal import DeferredCore
import Dispatch

/// Runs closures at times, with one timer for all deadlines of the process.
///
/// A deadline that passes is nearly always cancelled long before; that costs no system call here.
final class DeadlineTimer: Sendable {
    static let shared = DeadlineTimer()

    private struct State {
        var heap = DeadlineHeap()
        var bodies: [UInt64: @Sendable () -> Void] = [:]
        var nextIdentifier: UInt64 = 0
        var armed: UInt64?
    }

    private let state = Lock(State())

    // SAFETY: sources may be used from any thread; the protocol only doesn't say so.
    private nonisolated(unsafe) let source: any DispatchSourceTimer

    private init() {
        let queue = DispatchQueue(label: "Deferred.deadlines", qos: .userInitiated)
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler { [unowned self] in fire() }
        source.activate()
    }

    /// Nanoseconds on the scale of the deadlines: time that the machine was awake.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// The time so much from now; one that never comes for durations of centuries.
    static func time(after duration: Duration) -> UInt64 { time(duration, after: now) }

    /// The time so much after another.
    static func time(_ duration: Duration, after start: UInt64) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0 else { return start }
        guard seconds < 1 << 32 else { return .max }
        return start + UInt64(seconds) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }

    /// Runs `body` at `time` on some background queue, unless it is cancelled before.
    func schedule(at time: UInt64, _ body: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            let identifier = state.nextIdentifier
            state.nextIdentifier += 1
            state.bodies[identifier] = body
            state.heap.insert(identifier, at: time)
            arm(time, &state)
            return identifier
        }
    }

    /// Frees the closure, unless it runs or has run.
    func cancel(_ identifier: UInt64) {
        let body = state.withLock { state in
            state.heap.remove(identifier)
            return state.bodies.removeValue(forKey: identifier)
        }
        withExtendedLifetime(body) {}
    }

    /// Under the lock, so that of two times the earlier one stays.
    private func arm(_ time: UInt64, _ state: inout State) {
        guard time < state.armed ?? .max else { return }
        state.armed = time
        source.schedule(deadline: DispatchTime(uptimeNanoseconds: time), leeway: .milliseconds(1))
    }

    private func fire() {
        let bodies = state.withLock { state in
            let due = state.heap.popDue(at: Self.now)
            state.armed = nil
            if let next = state.heap.earliest() {
                arm(next, &state)
            }
            return due.compactMap { state.bodies.removeValue(forKey: $0) }
        }
        for body in bodies {
            DispatchQueue.global(qos: .userInitiated).async(execute: body)
        }
    }
}
