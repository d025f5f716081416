import Dispatch
import Foundation

/// The program's clock: time since its start, and calls on the main actor later on.
@MainActor
protocol Timers: AnyObject {
    var now: Duration { get }

    func after(_ delay: Duration, _ body: @escaping @MainActor () -> Void)

    /// Calls `body` again and again until the returned closure is called.
    func every(_ interval: Duration, _ body: @escaping @MainActor () -> Void) -> @MainActor () -> Void
}

/// Timers of the main queue.
@MainActor
final class DispatchTimers: Timers {
    private let start = ContinuousClock.now

    var now: Duration { ContinuousClock.now - start }

    func after(_ delay: Duration, _ body: @escaping @MainActor () -> Void) {
        DispatchQueue.main.asyncAfter(deadline: .now() + delay / .seconds(1)) {
            MainActor.assumeIsolated { body() }
        }
    }

    func every(_ interval: Duration, _ body: @escaping @MainActor () -> Void) -> @MainActor () -> Void {
        let source = DispatchSource.makeTimerSource(queue: .main)
        source.setEventHandler { MainActor.assumeIsolated { body() } }
        source.schedule(deadline: .now(), repeating: interval / .seconds(1), leeway: .milliseconds(5))
        source.resume()
        return { source.cancel() }
    }
}
