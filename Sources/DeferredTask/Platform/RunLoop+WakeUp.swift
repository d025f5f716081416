internal import Foundation

// `CFRunLoopWakeUp` is not exported by swift-corelibs-foundation, and `RunLoop.perform` alone leaves a waiting loop asleep.
// Proved by `RunLoopExecutorTests`, "a loop that waits wakes up, each time".

extension RunLoop {
    /// Makes the loop look for blocks, should it wait in one of `modes`. Safe from any thread.
    func wakeUp(in modes: [Mode]) {
        #if canImport(Darwin)
        CFRunLoopWakeUp(getCFRunLoop())
        #else
        // A timer that is due wakes it, in the modes in which it is added.
        let alarm = Timer(fire: Date(), interval: 0, repeats: false) { _ in }
        for mode in modes { add(alarm, forMode: mode) }
        #endif
    }
}
