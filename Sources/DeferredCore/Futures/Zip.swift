/// Returns a future of the values of several futures, as a tuple, filled when the last of them is available.
///
/// Use it for any number of values of different types that are needed together. For a collection of futures of one
/// type, use ``Swift/Collection/allFilled()``.
///
/// ```swift
/// zip(user, avatar, settings).upon(.mainActor) { user, avatar, settings in
///     show(user, avatar, settings)
/// }
/// ```
///
/// - Parameter futures: The futures to wait for. Without any, the result is filled at once.
/// - Returns: A future that is filled at once if all of them are. If one of them is dropped unfilled, the result is
///   never filled.
/// - Complexity: O(*n*) in the number of futures.
///
/// The result is filled on the thread that fills the last of the futures. Until then, each future retains the result,
/// and the result retains the futures that are filled, but not the others.
@inlinable
public func zip<each Input: FutureProtocol>(_ futures: repeat each Input) -> Future<(repeat (each Input).Value)> {
    var (count, index) = (0, 0)
    for _ in repeat each futures { count += 1 }
    let result = Gathering<(repeat (each Input).Value)>(count: count) { inputs in
        (repeat inputs.value((each Input).Value.self))
    }
    for future in repeat each futures {
        result.add(future.future.storage, at: index)
        index += 1
    }
    result.endAdding()
    return Future(result)
}
