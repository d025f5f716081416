import Synchronization

/// The base class of the storage and the handlers of a minimal future, which can do no more than one benchmark needs.
///
/// It is not generic, and has no cancellation, executor or order of handlers. The objects are as large as the
/// library's.
///
/// SAFETY: links and values belong to the winner of the atomic operations around them.
class FloorNode: @unchecked Sendable {
    @exclusivity(unchecked)
    final var next: Unmanaged<FloorNode>?
    @exclusivity(unchecked)
    final var unused = 0
    final let membership = Atomic(UInt(0))

    /// Claims the right to run.
    @inline(__always)
    final func take() -> Bool {
        membership.compareExchange(expected: 0, desired: 3, ordering: .acquiring).exchanged
    }

    /// Receives the value of the future that this waited for.
    func run(_ value: Int) {}
}

class FloorFuture: FloorNode, @unchecked Sendable {
    final let word = Atomic(UInt(0))
    @exclusivity(unchecked)
    final var value: Int?
    private let unusedWord = 0

    /// Makes a future out of the optimiser's sight, which would allocate it on the stack.
    @inline(never)
    static func make() -> FloorFuture { FloorFuture() }

    @inline(__always)
    final func claim() -> Bool {
        word.bitwiseOr(2, ordering: .relaxed).oldValue & 2 == 0
    }

    /// Adds a handler, and consumes the caller's reference to it.
    @inline(__always)
    final func push(_ node: consuming FloorNode) {
        let node = Unmanaged.passRetained(node)
        var old = word.load(ordering: .relaxed)
        while true {
            node._withUnsafeGuaranteedRef { $0.next = UnsafeRawPointer(bitPattern: old).map(Unmanaged.fromOpaque) }
            let (exchanged, current) = word.weakCompareExchange(
                expected: old,
                desired: UInt(bitPattern: node.toOpaque()),
                ordering: .acquiringAndReleasing
            )
            if exchanged { return }
            old = current
        }
    }

    /// Publishes the value, and runs the handlers.
    @inline(__always)
    final func publish(_ value: Int) {
        self.value = value
        var old = word.load(ordering: .relaxed)
        while true {
            let (exchanged, current) = word.weakCompareExchange(
                expected: old,
                desired: 3,
                ordering: .acquiringAndReleasing
            )
            if exchanged { break }
            old = current
        }
        var handler = UnsafeRawPointer(bitPattern: old & ~7).map(Unmanaged<FloorNode>.fromOpaque)
        while let current = handler {
            handler = current._withUnsafeGuaranteedRef { $0.next }
            current._withUnsafeGuaranteedRef { $0.run(value) }
            current.release()
        }
    }

    @inline(__always)
    final func peek() -> Int? {
        word.load(ordering: .acquiring) & 1 != 0 ? value : nil
    }
}

final class FloorHandler: FloorNode, @unchecked Sendable {
    private let body: @Sendable (Int) -> Void

    init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }

    override func run(_ value: Int) {
        if take() { body(value) }
    }
}

/// A future that is also a handler, as large as the library's.
class FloorStage: FloorFuture, @unchecked Sendable {
    private let transform: @Sendable (Int) -> Int
    private let unusedWords = (0, 0, 0, 0, 0, 0)
    private let unusedFlag = false

    init(_ transform: @escaping @Sendable (Int) -> Int) { self.transform = transform }

    override func run(_ value: Int) { publish(transform(value)) }
}

/// A stage that has no value of its own: its handler is to wait for another future.
final class FloorForwarder: FloorStage, @unchecked Sendable {
    @exclusivity(unchecked)
    var released: FloorNode?

    override func run(_ value: Int) {
        let old = word.exchange(0, ordering: .acquiringAndReleasing)
        released = UnsafeRawPointer(bitPattern: old).map { Unmanaged.fromOpaque($0).takeRetainedValue() }
    }
}
