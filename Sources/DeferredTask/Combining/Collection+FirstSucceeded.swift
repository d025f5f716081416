internal import DeferredCore

extension Collection {
    /// A task of the value that is there first, which cancels the rest; it fails only when all have failed.
    ///
    /// For the same work by several ways, of which one suffices: mirrors, replicas.
    ///
    /// - Returns: A task whose cancellation cancels those of the collection, and whose progress is the weighted mean of
    ///   theirs. It fails with ``AllTasksFailed``, which has the errors in the order of the collection; that of an empty
    ///   collection has failed so. Until it ends, it keeps them.
    /// - Complexity: O(*n*) in the number of tasks.
    public func firstSucceeded<Success>() -> Task<Success> where Element == Task<Success> {
        guard !isEmpty else { return .failure(AllTasksFailed(errors: [])) }
        let combination = Combination<Success>(expected: count)
        let errors = Gathered<any Error>(count: count)
        let task = combination.task()
        for (index, child) in self.enumerated() {
            combination.add(child) { result in
                switch result {
                case .success(let value):
                    combination.end(with: .success(value))
                case .failure(let error):
                    if let all = errors.put(error, at: index) {
                        combination.end(with: .failure(AllTasksFailed(errors: all)))
                    }
                }
            }
        }
        return task
    }
}

/// What ``Swift/Collection/firstSucceeded()`` fails with: every task has failed.
public struct AllTasksFailed: Error, CustomStringConvertible {
    /// The error of each task, in the order of the collection.
    public let errors: [any Error]

    /// One line for a log.
    public var description: String {
        guard !errors.isEmpty else { return "there was no task that could have succeeded" }
        return "none of \(errors.count) tasks succeeded: \(errors.map { "\($0)" }.joined(separator: "; "))"
    }
}
