import Foundation

/// Runs `body` on a thread with a stack of 512 KiB, as a user's own threads may have, and returns when it has ended.
package func onSmallStack(_ body: @escaping @Sendable () -> Void) {
    let ended = DispatchSemaphore(value: 0)
    let thread = Thread {
        body()
        ended.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    ended.wait()
}
