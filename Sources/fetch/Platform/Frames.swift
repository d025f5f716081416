import Deferred
import Dispatch

/// An executor that runs submitted closures on the main actor, in batches, ten times a second.
///
/// As the executor of progress handlers, it bounds their cost: between two frames, the newest progress wins.
@MainActor
final class Frames: Executor {
    private var bodies: [@Sendable () -> Void] = []
    private let timer = DispatchSource.makeTimerSource(queue: .main)

    nonisolated func submit(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async { MainActor.assumeIsolated { self.bodies.append(body) } }
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

    /// Runs the closures that are left, and ends the frames. Call it from a block of the main queue that was enqueued
    /// after the last closure was submitted.
    func stop() {
        timer.cancel()
        run()
    }

    private func run() {
        let waiting = bodies
        bodies = []
        for body in waiting { body() }
    }
}
