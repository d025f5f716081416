internal import Synchronization

/// A continuation that waits for a future: a handler without a closure. It carries no value, since the awaiting code
/// holds the future, and reads the value there.
///
/// A wait that ends when the awaiting task is cancelled has two parties: the code that suspends, and the cancellation
/// handler, which Swift may call before that, meanwhile or later. The second of them takes the node back.
///
/// ```
///   thread A: stores the continuation, adds the node, notes that it has suspended
///   thread B: notes the cancellation
/// ```
///
/// If B comes first, A finds its note, and takes the node back itself; if A does, B finds A's. If a fill takes the
/// node before, it resumes the continuation, and both find that they are too late.
///
/// SAFETY: `continuation` is set before the node is added; `steps` orders it before the cancellation reads it.
@usableFromInline
class Awaiter: HandlerNode, @unchecked Sendable {
    @exclusivity(unchecked)
    @usableFromInline final var continuation: UnsafeContinuation<Void, Never>?
    private let steps = AtomicWord(0)

    private static var suspended: UInt { 0b01 }
    private static var cancelled: UInt { 0b10 }

    @usableFromInline
    init(_ membership: consuming Membership, _ continuation: UnsafeContinuation<Void, Never>? = nil) {
        self.continuation = continuation
        super.init(membership)
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        if membership.take() { resume() }
        return .done
    }

    /// Called once, by whoever ends the wait.
    @usableFromInline
    func resume() { continuation!.resume() }

    /// Waits for `future`, unless the awaiting task has been cancelled.
    @usableFromInline
    final func suspend(_ continuation: UnsafeContinuation<Void, Never>, waitingFor future: FutureNode) {
        self.continuation = continuation
        guard future.add(self) else { return resume() }
        // Releases the continuation to `stop` on the thread that cancels; acquires its note.
        let steps = steps.update { $0.bitwiseOr(Self.suspended, ordering: .acquiringAndReleasing) }.oldValue
        if steps != 0 { stop() }
    }

    /// Notes that the awaiting task was cancelled, and ends a wait that has begun.
    @usableFromInline
    final func stopWaiting() {
        let steps = steps.update { $0.bitwiseOr(Self.cancelled, ordering: .acquiringAndReleasing) }.oldValue
        if steps != 0 { stop() }
    }

    private func stop() {
        cancel()
        // A future that can't be filled any more has dropped the node, and nobody else resumes it.
        if membership.isCancelled || membership.isDropped { resume() }
    }
}

extension FutureNode {
    /// Resumes `continuation` as soon as the future is filled.
    @inlinable
    package final func resume(_ continuation: UnsafeContinuation<Void, Never>) {
        if word.isFilled || !give(.passRetained(Awaiter(.permanent(), continuation))) { continuation.resume() }
    }

    /// Waits until the future is filled, or the current task is cancelled.
    @usableFromInline
    final func waitUnlessCancelled() async {
        let awaiter = Awaiter(.waiting(for: self))
        await withTaskCancellationHandler {
            await waitRaisingPriority { awaiter.suspend($0, waitingFor: self) }
        } onCancel: {
            awaiter.stopWaiting()
        }
    }
}
