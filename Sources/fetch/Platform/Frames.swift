import Deferred
import Dispatch
import Synchronization

/// Runs what is submitted on the main actor, together, ten times a second.
///
/// As the executor of progress handlers it bounds what they cost: between two frames, the newest progress wins.
@MainActor
final class Frames: Executor {
    private nonisolated let bodies = Mutex<[@Sendable () -> Void]>([])
    private let timer = DispatchSource.makeTimerSource(queue: .main)

    nonisolated func submit(_ body: @escaping @Sendable () -> Void) {
        bodies.withLock { $0.append(body) }
    }

    /// - Parameter draw: Called after what was submitted, each time.
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

    /// Runs what is left, and no more.
    func stop() {
        timer.cancel()
        run()
    }

    private func run() {
        let waiting = bodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
        for body in waiting { body() }
    }
}
