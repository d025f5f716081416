internal import DeferredCore

extension Collection {
    /// A task of all the values, in the order of the collection; the first failure fails it, and cancels the rest.
    ///
    /// For work that was fanned out and is useless unless all of it succeeds. For every result, whatever it is, use
    /// `allFilled()`; to start only a few at a time, ``Swift/Sequence/mapTasks(maxConcurrent:_:)``.
    ///
    /// ```swift
    /// let pages = urls.map { session.beginDataTask(with: $0) }.allSucceeded()
    /// ```
    ///
    /// - Returns: A task whose cancellation cancels those of the collection, and whose progress is the weighted mean of
    ///   theirs. That of an empty collection has succeeded. Until it ends, it keeps them.
    /// - Complexity: O(*n*) in the number of tasks.
    public func allSucceeded<Success>() -> Task<[Success]> where Element == Task<Success> {
        guard !isEmpty else { return .success([]) }
        let combination = Combination<[Success]>(expected: count)
        let values = Gathered<Success>(count: count)
        let task = combination.task()
        for (index, child) in self.enumerated() {
            combination.add(child) { result in
                switch result {
                case .success(let value):
                    if let all = values.put(value, at: index) { combination.end(with: .success(all)) }
                case .failure(let error):
                    combination.end(with: .failure(error))
                }
            }
        }
        return task
    }
}
