import DeferredCore
import DeferredTask
import Foundation

/// A thread with a run loop that does nothing but run submitted closures.
struct LoopThread: Sendable {
    let thread: ObjectIdentifier
    let executor: RunLoopExecutor
    let inCommonModes: RunLoopExecutor
    /// An executor for a mode in which the loop never runs.
    let inOtherMode: RunLoopExecutor
    private let end: @Sendable () -> Void
    private let ended: Deferred<Void>

    static func start() async throws -> LoopThread {
        let started = Deferred<LoopThread>()
        let thread = Thread {
            let (isOver, ended) = (Deferred<Void>(), Deferred<Void>())
            // A loop without timers and ports returns at once.
            let keepAlive = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
            RunLoop.current.add(keepAlive, forMode: .default)
            nonisolated(unsafe) let timer = keepAlive
            let loop = LoopThread(
                thread: ObjectIdentifier(Thread.current),
                executor: RunLoopExecutor(.current),
                inCommonModes: RunLoopExecutor(.current, modes: [.common]),
                inOtherMode: RunLoopExecutor(.current, modes: [RunLoop.Mode("other")]),
                end: {
                    timer.invalidate()
                    isOver.fill()
                },
                ended: ended
            )
            started.fill(with: loop)
            while !isOver.isFilled { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
            ended.fill()
        }
        thread.start()
        return try await started.get()
    }

    func stop() async throws {
        executor.submit(end)
        try await ended.get()
    }
}
