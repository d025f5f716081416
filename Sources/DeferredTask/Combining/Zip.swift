internal import DeferredCore
internal import Synchronization

/// Returns a task of the values of several tasks, as a tuple; the first failure fails it and cancels the rest.
///
/// For values of different types that are needed together; there may be any number of them. For a collection of tasks
/// of one type, use ``Swift/Collection/allSucceeded()``.
///
/// ```swift
/// let page = zip(user, avatar, settings).map { user, avatar, settings in
///     Page(user, avatar, settings)
/// }
/// ```
///
/// - Parameter tasks: Tasks, of any types. A `Future` is not a task: pass `Task(succeedsFrom:)`. When the arguments are
///   not all tasks, this is ``DeferredCore/zip(_:)``, which waits for every result.
/// - Returns: A task whose cancellation cancels all of them, and whose progress is the weighted mean of theirs. Without
///   arguments, it has already succeeded. It keeps the tasks until it ends.
/// - Complexity: O(*n*) in the number of tasks.
public func zip<each Success: Sendable>(_ tasks: repeat Task<each Success>) -> Task<(repeat each Success)> {
    var count = 0
    for _ in repeat each tasks { count += 1 }
    let slots = (repeat TupleSlot<each Success>())
    guard count > 0 else { return .success((repeat (each slots).value)) }
    let combination = Combination<(repeat each Success)>(expected: count)
    let missing = MissingValues(count)
    let end: @Sendable () -> Void = { combination.end(with: .success((repeat (each slots).value))) }
    func add<One>(_ child: Task<One>, _ slot: TupleSlot<One>) {
        combination.add(child) { result in
            switch result {
            case .success(let value):
                slot.put(value)
                if missing.countOut() { end() }
            case .failure(let error):
                combination.end(with: .failure(error))
            }
        }
    }
    let task = combination.task()
    repeat add(each tasks, each slots)
    return task
}

/// The slot for one value of a tuple.
private final class TupleSlot<Value: Sendable>: Sendable {
    private let content = Lock<Value?>(nil)

    /// The value, which must be present.
    var value: Value {
        guard let value = content.withLock({ $0 }) else {
            preconditionFailure("zip read the values of its tasks before all of them had succeeded")
        }
        return value
    }

    func put(_ value: Value) {
        content.withLock { $0 = value }
    }
}

/// Counts the values that have not arrived yet.
private final class MissingValues: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) {
        self.count = Atomic(count)
    }

    /// Returns true for the last value. Each value is stored before it is counted, and the last count acquires them
    /// all.
    func countOut() -> Bool {
        count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }
}
