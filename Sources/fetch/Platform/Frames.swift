import Deferred
import Dispatch
import Foundation

/// An executor that runs submitted closures on the main actor, in batches, ten times a second.
///
/// As the executor of progress handlers, it bounds their cost: between two frames, the newest progress wins.
@MainActor
final class Frames: Executor {
    // ThreadSanitizer understands this lock; it reports false races for a contended `Mutex` on Linux.
    private nonisolated let lock = NSLock()

    /// SAFETY: accessed under the lock.
    private nonisolated(unsafe) var bodies: [@Sendable () -> Void] = []

    private let timer = DispatchSource.makeTimerSource(queue: .main)

    nonisolated func submit(_ body: @escaping @Sendable () -> Void) {
        lock.withLock { bodies.append(body) }
    }

    /// Starts the frames.
    ///
    /// - Parameter draw: Called in each frame, after the submitted closures.
    func start(draw: @escaping @MainActor () -> Void) {
        timer.setEventHandler {
            MainActor.assumeIsolated {
                self.run()
                draw()
            }
        }
        timer.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(5))
        timer.resume()
    }

    /// Runs the closures that are left, and ends the frames.
    func stop() {
        timer.cancel()
        run()
    }

    private func run() {
        let waiting = lock.withLock {
            defer { bodies = [] }
            return bodies
        }
        for body in waiting { body() }
    }
}
