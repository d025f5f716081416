extension Sequence {
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
    /// - Parameters:
    ///   - maxConcurrent: The maximum number of tasks that run at a time; at least 1.
    ///   - start: Called once for each element, in order, on the thread that makes room. Kept until the last call
    ///     has returned, or the end.
    /// - Returns: A task whose cancellation cancels the running tasks, starts no more, and ends it at once with
    ///   `CancellationError`. Its progress is the weighted mean over all elements.
    /// - Complexity: O(*n*) in the number of elements, which are all copied before the first call.
    public func mapTasks<Success: Sendable>(
        maxConcurrent: Int,
        _ start: @escaping @Sendable (Element) throws -> Task<Success>
    ) -> Task<[Success]> where Element: Sendable {
        precondition(maxConcurrent > 0, "mapTasks(maxConcurrent: \(maxConcurrent)) would start nothing; use 1 or more")
        let elements = Array(self)
        guard !elements.isEmpty else { return .success([]) }
        let fanOut = FanOut(elements, limit: maxConcurrent, start)
        let task = fanOut.combination.task(endsAtOnce: true)
        fanOut.run()
        return task
    }
}
