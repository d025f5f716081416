/// Futures of one kind that nobody fills.
protocol Pending: AnyObject {
    /// With room for so many, so that what is measured later is not the growth of an array.
    init(room: Int)

    func add(futures: Int, handlers: Int)

    /// To the first future.
    func addHandlers(_ count: Int)
}

/// What the handlers capture.
final class Sink: @unchecked Sendable {
    @exclusivity(unchecked)
    var sum = 0
}
