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
    var (count, index) = (0, 0)
    for _ in repeat each tasks { count += 1 }
    let values = Gathered<any Sendable, (repeat each Success)>(count: count) { values in
        var values = values
        // The values are in the order of the tasks, each of its task's type.
        return .success((repeat values.removeFirst() as! each Success))
    }
    let zipped = values.task()
    for task in repeat each tasks {
        values.add(task, at: index) { result in
            switch result {
            case .success(let value): .part(value)
            case .failure(let error): .end(.failure(error))
            }
        }
        index += 1
    }
    return zipped
}
