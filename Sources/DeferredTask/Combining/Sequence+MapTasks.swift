extension Sequence where Self: Sendable {
    /// Starts a task for each element, a limited number at a time, and returns a task of all values in order.
    ///
    /// For many pieces of work on a resource that supports only a few at once. The first failure, of a task or thrown
    /// by `start`, fails the new task, cancels the running tasks, and starts no more.
    ///
    /// ```swift
    /// let sizes = urls.mapTasks(maxConcurrent: 4) { url in
    ///     session.beginDataTask(with: url).map { data, _ in data.count }
    /// }
    /// ```
    ///
    /// Each element is taken when there is room for its task, so that a sequence may be long, or endless: the first
    /// failure or a cancellation ends it.
    ///
    /// - Parameters:
    ///   - maxConcurrent: The maximum number of tasks that run at a time. Less than 1 counts as 1.
    ///   - start: Called once for each element, in order, on the thread that makes room. Kept until the last call
    ///     has returned, or the end.
    /// - Returns: A task whose cancellation cancels the running tasks, starts no more, and ends it at once with
    ///   `CancellationError`. Its progress is the weighted mean over all elements; those to come weigh as much as the
    ///   others on average. Of a sequence whose length is not known, one of those to come counts.
    public func mapTasks<Success: Sendable>(
        maxConcurrent: Int,
        _ start: @escaping @Sendable (Element) throws -> Task<Success>
    ) -> Task<[Success]> where Element: Sendable {
        let fanOut = FanOut(self, limit: Swift.max(maxConcurrent, 1), start)
        let task = fanOut.combination.task(endsAtOnce: true)
        fanOut.run(isFirst: true)
        return task
    }
}
