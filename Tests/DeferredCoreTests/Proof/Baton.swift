#if DEBUG
import Foundation

/// Passed from thread to thread: only the one that has it moves.
///
/// A condition rather than a semaphore, since ThreadSanitizer sees what it orders.
final class Baton: @unchecked Sendable {
    private let condition = NSCondition()
    // SAFETY: guarded by `condition`.
    private var isHere = false

    func pass() {
        condition.lock()
        isHere = true
        condition.unlock()
        // Not under the lock, at which the thread that wakes up would have to stop again.
        condition.signal()
    }

    func wait() {
        condition.lock()
        while !isHere { condition.wait() }
        isHere = false
        condition.unlock()
    }
}

/// A thread that runs one body after the other, each when it gets the baton.
///
/// SAFETY: `body` is set by whoever passes the baton on, and taken by whoever gets it.
final class ActorThread: @unchecked Sendable {
    let baton = Baton()
    private var body: (@Sendable () -> Void)?

    init() {
        Thread.detachNewThread { [self] in
            while true {
                baton.wait()
                guard let body else { return }
                self.body = nil
                body()
            }
        }
    }

    func assign(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func stop() {
        body = nil
        baton.pass()
    }
}
#endif
