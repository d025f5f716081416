internal import DeferredCore

extension Collection {
    /// Returns a task that ends like the first task to end, with a value or an error, and cancels the rest.
    ///
    /// - Returns: A task whose cancellation cancels the tasks of the collection, and whose progress is the weighted
    ///   mean of theirs. For an empty collection, it never ends. It keeps the tasks until it ends.
    /// - Complexity: O(*n*) in the number of tasks.
    public func firstCompleted<Success>() -> Task<Success> where Element == Task<Success> {
        let combination = Combination<Success>(expected: count)
        let task = combination.task()
        for child in self {
            combination.add(child) { combination.end(with: $0) }
        }
        return task
    }
}
