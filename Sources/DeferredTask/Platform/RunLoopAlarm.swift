internal import Dispatch
internal import Foundation
internal import Synchronization

// `CFRunLoopWakeUp` is not exported by swift-corelibs-foundation, and `RunLoop.perform` alone leaves a waiting loop asleep.
// Setting the date of a timer wakes the loop that the timer is in, says `CFRunLoopTimerSetNextFireDate`, "just in case",
// unless that is done on the loop's own thread; then another thread does it. One timer is enough for a life, and has to be:
// swift-corelibs-foundation never frees any. It is in a mode of its own, in which no loop ever runs, so that it neither
// fires nor keeps a loop from returning. Proved by `RunLoopExecutorTests`, "a loop that waits wakes up, each time".

/// Wakes a run loop up, should it wait, so that it looks for blocks. Safe from any thread. Does not keep the loop, whose
/// blocks keep this.
final class RunLoopAlarm: @unchecked Sendable {
    // SAFETY: a run loop and its timers lock by themselves what is used of them here.
    private weak var loop: RunLoop?

    #if canImport(Darwin)
    init(_ loop: RunLoop) {
        self.loop = loop
    }

    func wakeUp() {
        if let loop { CFRunLoopWakeUp(loop.getCFRunLoop()) }
    }
    #else
    /// Whether another thread is about to wake the loop.
    private let isUnderWay = Atomic(false)
    private let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }

    init(_ loop: RunLoop) {
        self.loop = loop
        loop.add(timer, forMode: RunLoop.Mode("Deferred.alarm"))
    }

    deinit {
        timer.invalidate()
    }

    func wakeUp() {
        guard loop === RunLoop.current else { return ring() }
        guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            isUnderWay.store(false, ordering: .releasing)
            ring()
        }
    }

    private func ring() { timer.fireDate = Date() }
    #endif
}
