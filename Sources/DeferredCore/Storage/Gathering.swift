public import Synchronization

/// The future of many values: filled by whichever of its inputs comes last.
///
/// Each input has a ``GatheredInput`` in its list, which knows no type; only the last to come takes the values together.
///
/// SAFETY: each place in `inputs` is written by one input before that counts itself out, and read by the last one to do
/// so, or when this goes.
@usableFromInline
final class Gathering<Values: Sendable>: FutureStorage<Values>, @unchecked Sendable {
    /// Inputs that are filled, each with a reference.
    @usableFromInline let inputs: UnsafeMutableBufferPointer<Unmanaged<FutureNode>?>
    /// Makes one value of theirs, all of which are filled.
    @usableFromInline let collect: @Sendable (_ inputs: Inputs) -> Values
    /// The inputs that have not come yet, and one more while inputs are being added.
    @usableFromInline let missing: AtomicWord

    @inlinable
    init(count: Int, _ collect: @escaping @Sendable (_ inputs: Inputs) -> Values) {
        inputs = .allocate(capacity: count)
        inputs.initialize(repeating: nil)
        self.collect = collect
        missing = AtomicWord(UInt(count) + 1)
        super.init(.permanent())
    }

    @inlinable
    deinit {
        releaseInputs()
        inputs.deallocate()
    }

    /// Waits for `input` too, the one with this index; true if it is filled already, and not counted out yet.
    @inlinable
    func add<Value: Sendable>(_ input: FutureStorage<Value>, at index: Int) -> Bool {
        let place = inputs.baseAddress.unsafelyUnwrapped + index
        if !input.word.isFilled, input.give(.passRetained(GatheredInput(place, of: self))) { return false }
        place.pointee = Unmanaged.passRetained(input)
        return true
    }

    /// Ends the adding of inputs, of which `count` were filled already.
    @inlinable
    func endAdding(filled count: Int) {
        if countOut(count + 1) { fulfil(with: values()) }
    }

    /// True for the last. Releases the inputs to the last one, which acquires them all.
    @inlinable
    func countOut(_ count: Int) -> Bool {
        missing.subtract(UInt(count), ordering: .acquiringAndReleasing).newValue == 0
    }

    @inlinable
    func values() -> Values {
        defer { releaseInputs() }
        return collect(Inputs(next: inputs.baseAddress))
    }

    @usableFromInline
    func releaseInputs() {
        for index in inputs.indices { inputs[index].take()?.release() }
    }

    /// One of the inputs is filled, and in its place.
    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        if countOut(1) { pass(values(), to: &drain) }
        return .done
    }

    /// Without the value of one of the inputs there will be no tuple or array, whoever holds its future.
    @usableFromInline
    override func goUnfilled(isDismissing: Bool) {
        dropHandlersForEver()
    }
}

/// The inputs of a ``Gathering``, from first to last.
@usableFromInline
struct Inputs {
    @usableFromInline var next: UnsafeMutablePointer<Unmanaged<FutureNode>?>?

    @inlinable
    init(next: UnsafeMutablePointer<Unmanaged<FutureNode>?>?) {
        self.next = next
    }

    /// The value of the next one.
    @inlinable
    mutating func value<Value: Sendable>(_: Value.Type = Value.self) -> Value {
        let place = next.unsafelyUnwrapped
        next = place + 1
        return place.pointee.unsafelyUnwrapped._withUnsafeGuaranteedRef {
            unsafeDowncast($0, to: FutureStorage<Value>.self).value
        }
    }
}

/// Waits for one input of a ``Gathering``.
///
/// SAFETY: `gathering` belongs to whoever runs or dismisses this node, as a permanent one does not fall to two.
@usableFromInline
final class GatheredInput: FutureNode, @unchecked Sendable {
    private let place: UnsafeMutablePointer<Unmanaged<FutureNode>?>
    @exclusivity(unchecked)
    private var gathering: FutureNode?

    @usableFromInline
    init(_ place: UnsafeMutablePointer<Unmanaged<FutureNode>?>, of gathering: FutureNode) {
        self.place = place
        self.gathering = gathering
        super.init(.permanent())
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        place.pointee = Unmanaged.passRetained(upstream)
        return gathering.unsafelyUnwrapped.run(upstream, &drain)
    }

    @usableFromInline
    override func dismiss() {
        gathering.take()?.goUnfilled(isDismissing: false)
    }
}
