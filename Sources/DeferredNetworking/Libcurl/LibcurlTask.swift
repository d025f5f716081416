#if os(Linux)
internal import DeferredCore
import FoundationNetworking
import Synchronization

/// An engine task of a transfer. Its methods send letters to the engine's thread, which does the work.
final class LibcurlTask: EngineTask {
    let identifier: Int
    let request: CheckedRequest

    /// The transfer, which retains this task in turn, until ``EngineEvent/ended(_:error:)``. That event always comes.
    let transfer: Transfer
    private let mailbox: LibcurlMailbox
    private let wasCancelled = Atomic(false)
    private let hasEnded = Atomic(false)

    private let holdCondition = Lock<(@Sendable () -> Bool)?>(nil)

    /// True while the response should not be read.
    var isHeld: Bool { holdCondition.withLock { $0 }?() ?? false }

    /// The number of bytes that the transfer was given but has not processed yet, because another thread is still busy
    /// with earlier ones.
    private let backlog = Atomic(0)
    private let isWaiting = Atomic(false)
    private static let largestBacklog = 256 << 10

    /// True if the results are no longer needed. Only a hint for the engine's thread: the letter in its mailbox counts.
    var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) }

    init(_ identifier: Int, _ request: CheckedRequest, of transfer: Transfer, _ mailbox: LibcurlMailbox) {
        self.identifier = identifier
        self.request = request
        self.transfer = transfer
        self.mailbox = mailbox
    }

    func resume() {
        mailbox.submit(.begin(self))
    }

    func cancel() {
        wasCancelled.store(true, ordering: .relaxed)
        mailbox.submit(.cancel(self))
    }

    func hold(while isHeld: @escaping @Sendable () -> Bool) {
        // The previous condition is released outside of the lock.
        let old = holdCondition.withLock { condition in
            defer { condition = isHeld }
            return condition
        }
        withExtendedLifetime(old) {}
        mailbox.submit(.hold(self))
    }

    func took(_ count: Int) {
        // Either this sees that the thread waits, or the thread sees the new backlog.
        let rest = backlog.subtract(count, ordering: .sequentiallyConsistent).newValue
        if rest <= Self.largestBacklog / 2, isWaiting.exchange(false, ordering: .sequentiallyConsistent) {
            mailbox.submit(.caughtUp(self))
        }
    }

    /// Counts bytes that are about to be delivered.
    func willTell(_ count: Int) {
        backlog.add(count, ordering: .sequentiallyConsistent)
    }

    /// Returns true if the transfer is behind. A ``LibcurlMailbox/Letter/caughtUp(_:)`` then reports when it has caught
    /// up.
    func isBehind() -> Bool {
        guard backlog.load(ordering: .sequentiallyConsistent) > Self.largestBacklog else { return false }
        isWaiting.store(true, ordering: .sequentiallyConsistent)
        guard backlog.load(ordering: .sequentiallyConsistent) <= Self.largestBacklog / 2 else { return true }
        // The transfer has caught up meanwhile; the thread that resets the flag first reports it.
        return !isWaiting.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// Reports that the body's source has bytes again.
    func proceed() {
        mailbox.submit(.proceed(self))
    }

    func tell(_ event: EngineEvent) {
        transfer.receive(event, of: identifier)
    }

    /// Reports the end once: a task that is cancelled before it is resumed has no exchange to do so.
    func end(_ head: ResponseHead?, _ error: (any Error)?) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        tell(.ended(head, error: error))
    }
}
#endif
