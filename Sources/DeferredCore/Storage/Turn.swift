internal import Synchronization

/// One turn of a stage on an executor.
///
/// It begins once, however often the executor runs the closure that holds this. If the executor drops the closure instead,
/// the stage goes unfilled.
@usableFromInline
final class Turn: Sendable {
    /// The address of the stage, with a reference to it; 0 once begun.
    private let stage: Atomic<UInt>

    @usableFromInline
    init(of stage: FutureNode) {
        self.stage = Atomic(UInt(bitPattern: Unmanaged.passRetained(stage).toOpaque()))
    }

    /// The stage, with the reference; `nil` but for the first.
    @usableFromInline
    func begin() -> Unmanaged<FutureNode>? {
        // Relaxed: whoever runs the closure has it from the executor, and the stage with it.
        UnsafeRawPointer(bitPattern: stage.exchange(0, ordering: .relaxed)).map(Unmanaged.fromOpaque)
    }

    deinit {
        guard let stage = begin() else { return }
        stage._withUnsafeGuaranteedRef {
            if $0.membership.take() { $0.goUnfilled(isDismissing: true) }
        }
        stage.release()
    }
}
