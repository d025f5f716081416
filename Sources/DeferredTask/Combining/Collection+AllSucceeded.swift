extension Collection {
    /// Returns a task of all values, in the order of the collection; the first failure fails it and cancels the rest.
    ///
    /// For work that was fanned out and is useless unless all of it succeeds. To collect failures as well, use
    /// `allFilled()`; to start only a few tasks at a time, ``Swift/Sequence/mapTasks(maxConcurrent:_:)``.
    ///
    /// ```swift
    /// let pages = urls.map { session.beginDataTask(with: $0) }.allSucceeded()
    /// ```
    ///
    /// - Returns: A task whose cancellation cancels the tasks of the collection, and whose progress is the weighted
    ///   mean of theirs. For an empty collection, it has already succeeded. It keeps the tasks until it ends.
    /// - Complexity: O(*n*) in the number of tasks.
    public func allSucceeded<Success>() -> Task<[Success]> where Element == Task<Success> {
        let values = Gathered<Success, [Success]>(count: count) { .success($0) }
        let task = values.task()
        for (index, child) in self.enumerated() {
            values.add(child, at: index) { result in
                switch result {
                case .success(let value): .part(value)
                case .failure(let error): .end(.failure(error))
                }
            }
        }
        return task
    }
}
