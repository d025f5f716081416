public import DeferredCore
public import Foundation

/// Runs closures in a run loop, on its thread, in order.
///
/// For threads that live in a `RunLoop` of their own, with its timers and streams. For the main thread, use `.main` or
/// `.mainActor`: these are served by the main run loop, too. `RunLoop` itself is not `Sendable`, and so no ``DeferredCore/Executor``;
/// of this one, nothing can be reached but what is safe from other threads.
///
/// ```swift
/// let here = RunLoopExecutor(.current)
/// lines.upon(here) { parser.feed($0) }
/// RunLoop.current.run()
/// ```
///
/// **Thread safety:** closures can be submitted from any thread; a loop that waits wakes up for them. **Lifetime:** this
/// keeps the loop, and the loop keeps each closure until it has run. A loop that nobody runs, or whose thread has ended,
/// runs none. Neither this nor a closure that has run keeps `RunLoop.run()` from returning: that takes a timer or a port.
public struct RunLoopExecutor: Executor, @unchecked Sendable {
    // SAFETY: only used to add blocks, which a run loop takes from any thread.
    private let loop: RunLoop
    private let modes: [RunLoop.Mode]
    private let alarm: RunLoopAlarm

    /// Creates an executor that runs closures in `loop`.
    ///
    /// - Parameters:
    ///   - loop: The loop. Only its own thread can ask for it, with `RunLoop.current`.
    ///   - modes: In which modes of the loop closures run; while it runs in another, they wait. `.common` stands for all
    ///     those that were declared so.
    public init(_ loop: RunLoop, modes: [RunLoop.Mode] = [.default]) {
        self.loop = loop
        self.modes = modes
        alarm = RunLoopAlarm(loop)
    }

    /// Runs `body` in the next turn of the loop.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        loop.perform(inModes: modes) { [alarm] in
            body()
            // A loop that has nothing left returns when it looks, which it might do never.
            alarm.wakeUp()
        }
        alarm.wakeUp()
    }
}
