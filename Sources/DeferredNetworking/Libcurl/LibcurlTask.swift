#if os(Linux)
internal import DeferredCore
import FoundationNetworking
import Synchronization

/// One request of a client, as its transfer knows it. What it is asked for is done on the engine's thread.
final class LibcurlTask: EngineTask {
    let identifier: Int
    let request: CheckedRequest

    /// Refers to this task in turn. Lets go of it after ``EngineEvent/ended(_:error:)``, which always comes.
    let transfer: Transfer
    private let mailbox: LibcurlMailbox
    private let wasCancelled = Atomic(false)
    private let hasEnded = Atomic(false)

    private let holdCondition = Lock<(@Sendable () -> Bool)?>(nil)

    /// Whether the response is not to be read just now.
    var isHeld: Bool { holdCondition.withLock { $0 }?() ?? false }

    /// Bytes that were told and wait in the transfer, behind what another thread does with those before.
    private let backlog = Atomic(0)
    private let isWaiting = Atomic(false)
    private static let largestBacklog = 256 << 10

    /// Whether what still comes is of no use. Only a hint for the engine's thread: the request in its mailbox counts.
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
        // The one before is let go of without the lock.
        let old = holdCondition.withLock { condition in
            defer { condition = isHeld }
            return condition
        }
        withExtendedLifetime(old) {}
        mailbox.submit(.hold(self))
    }

    func took(_ count: Int) {
        // Either this sees that the thread waits, or that one sees what was taken.
        let rest = backlog.subtract(count, ordering: .sequentiallyConsistent).newValue
        if rest <= Self.largestBacklog / 2, isWaiting.exchange(false, ordering: .sequentiallyConsistent) {
            mailbox.submit(.caughtUp(self))
        }
    }

    /// Notes that bytes are about to be told.
    func willTell(_ count: Int) {
        backlog.add(count, ordering: .sequentiallyConsistent)
    }

    /// Whether the transfer is behind. If so, ``LibcurlMailbox/Letter/caughtUp(_:)`` tells when it is no more.
    func isBehind() -> Bool {
        guard backlog.load(ordering: .sequentiallyConsistent) > Self.largestBacklog else { return false }
        isWaiting.store(true, ordering: .sequentiallyConsistent)
        guard backlog.load(ordering: .sequentiallyConsistent) <= Self.largestBacklog / 2 else { return true }
        // It has caught up meanwhile; who turns this off first tells.
        return !isWaiting.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// The body's source has bytes again.
    func proceed() {
        mailbox.submit(.proceed(self))
    }

    func tell(_ event: EngineEvent) {
        transfer.receive(event, of: identifier)
    }

    /// Tells the end, unless it was told: one that is cancelled before it is resumed has no exchange that could know.
    func end(_ response: HTTPURLResponse?, _ error: (any Error)?) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        tell(.ended(response, error: error))
        mailbox.countEnd()
    }
}
#endif
