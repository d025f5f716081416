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

    /// A structure, because each access to a lock whose whole value is a closure wraps that once more in thunks.
    private struct Hold {
        var condition: (@Sendable () -> Bool)?
    }

    private let hold = Lock(Hold())

    /// True while the response should not be read.
    var isHeld: Bool { hold.withLock { $0.condition }?() ?? false }

    /// The bytes that the transfer has not processed yet.
    let backlog = Backlog()

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
        let old = hold.withLock { hold in
            defer { hold.condition = isHeld }
            return hold.condition
        }
        withExtendedLifetime(old) {}
        mailbox.submit(.hold(self))
    }

    func took(_ count: Int) {
        if backlog.remove(count) { mailbox.submit(.caughtUp(self)) }
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
