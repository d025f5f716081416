internal import Synchronization

/// A submission of a stage to an executor.
///
/// It begins once, even if the executor runs the closure that holds this several times. If the executor drops the
/// closure instead, the stage is never filled.
@usableFromInline
final class Turn: Sendable {
    /// The address of the stage, with a reference to it; 0 after `begin`.
    private let stage: Atomic<UInt>

    @usableFromInline
    init(of stage: FutureNode) {
        self.stage = Atomic(UInt(bitPattern: Unmanaged.passRetained(stage).toOpaque()))
    }

    /// Returns the stage, with the reference, to the first caller, and `nil` to all others.
    @usableFromInline
    func begin() -> Unmanaged<FutureNode>? {
        // Relaxed: the executor already orders the submission, and so the stage's memory, before this.
        UnsafeRawPointer(bitPattern: stage.exchange(0, ordering: .relaxed)).map(Unmanaged.fromOpaque)
    }

    deinit {
        guard let stage = begin() else { return }
        stage._withUnsafeGuaranteedRef {
            if $0.membership.drop() { $0.goUnfilled(isDismissing: true) }
        }
        stage.release()
    }
}
