internal import Dispatch
internal import Foundation
internal import Synchronization

// `CFRunLoopWakeUp` is not exported by swift-corelibs-foundation, and `RunLoop.perform` alone leaves a waiting loop
// asleep. Setting the date of a timer wakes the timer's loop, says `CFRunLoopTimerSetNextFireDate`, "just in case",
// unless that is done on the loop's own thread; then another thread does it. One timer per executor has to do:
// swift-corelibs-foundation never frees any. It is in a private mode, in which no loop ever runs, so that it neither
// fires nor keeps a loop from returning. Proved by `RunLoopExecutorTests`, "a loop that waits wakes up, each time".

/// Wakes a waiting run loop, so that it looks for blocks. Safe from any thread. Does not keep the loop, whose blocks
/// keep the alarm.
final class RunLoopAlarm: @unchecked Sendable {
    // SAFETY: the parts of a run loop and its timers that are used here lock internally.
    private weak var loop: RunLoop?

    #if canImport(Darwin)
    init(_ loop: RunLoop) {
        self.loop = loop
    }

    func wakeUp() {
        if let loop { CFRunLoopWakeUp(loop.getCFRunLoop()) }
    }
    #else
    /// True while another thread is about to wake the loop.
    private let isUnderWay = Atomic(false)
    private let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }

    init(_ loop: RunLoop) {
        self.loop = loop
        loop.add(timer, forMode: RunLoop.Mode("Deferred.alarm"))
    }

    deinit {
        withLoop { timer.invalidate() }
    }

    func wakeUp() {
        guard loop === RunLoop.current else { return ring() }
        guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            isUnderWay.store(false, ordering: .releasing)
            ring()
        }
    }

    private func ring() {
        withLoop { timer.fireDate = Date() }
    }

    /// Calls `body` while it keeps the loop, unless the loop is gone: the timer knows the loop without keeping it, and a
    /// loop that is retained while its thread ends stops the process. Test: "a thread may end while its loop is being
    /// woken".
    private func withLoop(_ body: () -> Void) {
        guard let loop else { return }
        withExtendedLifetime(loop) { body() }
    }
    #endif
}
