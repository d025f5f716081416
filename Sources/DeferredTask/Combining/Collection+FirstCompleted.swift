internal import DeferredCore

extension Collection {
    /// A task that ends as the first to end does, be it with a value or an error, and cancels the rest.
    ///
    /// - Returns: A task whose cancellation cancels those of the collection, and whose progress is the weighted mean of
    ///   theirs. That of an empty collection never ends. Until it ends, it keeps them.
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
