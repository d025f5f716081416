/// A future of the values of several futures, as a tuple, filled when the last of them is there.
///
/// For values of different types that are needed together; there may be any number of them. For a collection of futures
/// of one type, use ``Swift/Collection/allFilled()``.
///
/// ```swift
/// zip(user, avatar, settings).upon(.mainActor) { user, avatar, settings in
///     show(user, avatar, settings)
/// }
/// ```
///
/// - Parameter futures: The futures to wait for. The result of none is filled at once.
/// - Returns: A future that is filled at once if all of them are. If one of them goes unfilled, so does the result.
/// - Complexity: O(*n*) in the number of futures.
///
/// The result is filled on the thread that fills the last of the futures. Until then, each of them keeps the result, and
/// the result keeps the values that are there, but not the futures.
@inlinable
public func zip<each Input: FutureProtocol>(_ futures: repeat each Input) -> Future<(repeat (each Input).Value)> {
    let slots = TupleSlots<repeat (each Input).Value>()
    var (count, filled) = (0, 0)
    for _ in repeat each futures { count += 1 }
    let result = Gathering(slots, count: count)
    func add<Value: Sendable>(_ future: Future<Value>, _ slot: UnsafeMutablePointer<Value?>) {
        if result.add(future.storage, slot) { filled += 1 }
    }
    repeat add((each futures).future, each slots.pointers)
    result.endAdding(filled: filled)
    return Future(result)
}

/// A slot for each value of a tuple.
@usableFromInline
struct TupleSlots<each Value: Sendable>: GatheringSlots {
    @usableFromInline let pointers: (repeat UnsafeMutablePointer<(each Value)?>)

    @inlinable
    init() {
        pointers = (repeat Self.make((each Value).self))
    }

    @inlinable
    func collect() -> (repeat each Value) {
        (repeat Self.take(each pointers))
    }

    @inlinable
    func deallocate() {
        repeat Self.free(each pointers)
    }

    @inlinable
    static func make<One>(_: One.Type) -> UnsafeMutablePointer<One?> {
        let pointer = UnsafeMutablePointer<One?>.allocate(capacity: 1)
        pointer.initialize(to: nil)
        return pointer
    }

    @inlinable
    static func take<One>(_ pointer: UnsafeMutablePointer<One?>) -> One {
        defer { pointer.deallocate() }
        return pointer.move().unsafelyUnwrapped
    }

    @inlinable
    static func free<One>(_ pointer: UnsafeMutablePointer<One?>) {
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }
}
