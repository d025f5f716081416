/// Futures of one kind that are never filled.
protocol Pending: AnyObject {
    /// Creates a list with room for `room` futures, so that later measurements don't include the growth of an array.
    init(room: Int)

    func add(futures: Int, handlers: Int)

    /// Adds handlers to the first future.
    func addHandlers(_ count: Int)
}

/// The object that the handlers capture.
final class Sink: @unchecked Sendable {
    @exclusivity(unchecked)
    var sum = 0
}
