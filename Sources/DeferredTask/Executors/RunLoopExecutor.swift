public import DeferredCore
public import Foundation

/// Runs closures in a run loop, on its thread, in order.
///
/// For threads that run their own `RunLoop`, with its timers and streams. For the main thread, use `.main` or
/// `.mainActor`: the main run loop serves these, too. `RunLoop` itself is not `Sendable` and so cannot be an
/// ``DeferredCore/Executor``; this type exposes only what is safe from other threads.
///
/// ```swift
/// let here = RunLoopExecutor(.current)
/// lines.upon(here) { parser.feed($0) }
/// RunLoop.current.run()
/// ```
///
/// **Thread safety:** closures can be submitted from any thread; a waiting loop wakes up for them. **Lifetime:** the
/// executor keeps the loop, and the loop keeps each closure until it has run. A loop that is not running, or whose
/// thread has ended, runs none, and keeps them. Neither the executor nor a closure that has run keeps `RunLoop.run()`
/// from returning: that takes a timer or a port.
public struct RunLoopExecutor: Executor, @unchecked Sendable {
    // SAFETY: only used to add blocks, which a run loop takes from any thread.
    private let loop: RunLoop
    private let modes: [RunLoop.Mode]
    private let alarm: RunLoopAlarm

    /// Creates an executor that runs closures in `loop`.
    ///
    /// - Parameters:
    ///   - loop: The loop. Only its own thread can get it, with `RunLoop.current`.
    ///   - modes: The modes of the loop in which closures run; while it runs in another mode, they wait. `.common`
    ///     stands for all modes declared as common.
    public init(_ loop: RunLoop, modes: [RunLoop.Mode] = [.default]) {
        self.loop = loop
        self.modes = modes
        alarm = RunLoopAlarm(loop)
    }

    /// Runs `body` in the next turn of the loop.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        loop.perform(inModes: modes) { [alarm] in
            body()
            // A loop with nothing left to do returns when it checks, which it might never do while it waits.
            alarm.wakeUp()
        }
        alarm.wakeUp()
    }
}
