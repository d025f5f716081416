internal import Synchronization

/// A flag set at the start of a reset, before it cancels the executions in turn, so that no waiting one starts
/// meanwhile.
final class ResetGate: Sendable {
    private let closed = Atomic(false)

    // Relaxed: an execution that starts on another thread at the same moment could as well have started before.
    var isClosed: Bool { closed.load(ordering: .relaxed) }

    func close() { closed.store(true, ordering: .relaxed) }

    /// A strong reference to a gate that can be set once, without a lock.
    struct Reference: ~Copyable, Sendable {
        /// The address of the gate; zero before it is set.
        private let bits = Atomic<UInt>(0)

        deinit {
            Self.gate(at: bits.load(ordering: .relaxed))?.release()
        }

        /// True if there is a gate, and it is closed.
        var isClosed: Bool {
            // Pairs with the release in `set`.
            let bits = bits.load(ordering: .acquiring)
            return bits != 0 && Self.gate(at: bits)?._withUnsafeGuaranteedRef { $0.isClosed } == true
        }

        /// Refers to `gate`, unless there is a gate already.
        func set(_ gate: ResetGate) {
            let reference = Unmanaged.passRetained(gate)
            let (exchanged, _) = bits.compareExchange(
                expected: 0,
                desired: UInt(bitPattern: reference.toOpaque()),
                ordering: .acquiringAndReleasing
            )
            if !exchanged { reference.release() }
        }

        private static func gate(at bits: UInt) -> Unmanaged<ResetGate>? {
            UnsafeRawPointer(bitPattern: bits).map(Unmanaged.fromOpaque)
        }
    }
}
