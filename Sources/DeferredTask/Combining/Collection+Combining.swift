internal import DeferredCore

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

    /// Returns a task of the first value, which cancels the rest; it fails only when all tasks have failed.
    ///
    /// For several ways of getting the same result, of which one suffices: mirrors, replicas.
    ///
    /// - Returns: A task whose cancellation cancels the tasks of the collection, and whose progress is the weighted
    ///   mean of theirs. It fails with ``AllTasksFailed``, which has the errors in the order of the collection; for an
    ///   empty collection, it has already failed that way. It keeps the tasks until it ends.
    /// - Complexity: O(*n*) in the number of tasks.
    public func firstSucceeded<Success>() -> Task<Success> where Element == Task<Success> {
        let errors = Gathered<any Error, Success>(count: count) { .failure(AllTasksFailed(errors: $0)) }
        let task = errors.task()
        for (index, child) in self.enumerated() {
            errors.add(child, at: index) { result in
                switch result {
                case .success: .end(result)
                case .failure(let error): .part(error)
                }
            }
        }
        return task
    }

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

/// The error of ``Swift/Collection/firstSucceeded()`` when every task has failed.
public struct AllTasksFailed: Error, CustomStringConvertible {
    /// The error of each task, in the order of the collection.
    public var errors: [any Error] { storage.errors }

    private let storage: Storage

    init(errors: [any Error]) {
        storage = Storage(errors)
    }

    /// One line for a log, with the first hundred errors; those of nested collections are listed in line.
    public var description: String { line { "\($0)" } }

    func line(_ text: (any Error) -> String) -> String {
        guard !errors.isEmpty else { return "no task succeeded, because the collection was empty" }
        var (texts, pending) = ([String](), Array(errors.reversed()))
        while texts.count < 100, let error = pending.popLast() {
            if let nested = error as? AllTasksFailed, !nested.errors.isEmpty {
                pending += nested.errors.reversed()
            } else {
                texts.append(text(error))
            }
        }
        if !pending.isEmpty { texts.append("…") }
        return "none of \(errors.count) tasks succeeded: \(texts.joined(separator: "; "))"
    }

    /// Frees errors one by one, however deeply they are nested.
    ///
    /// SAFETY: `errors` changes only while deinitialising.
    private final class Storage: @unchecked Sendable {
        private(set) var errors: [any Error]

        init(_ errors: [any Error]) {
            self.errors = errors
        }

        deinit {
            var nested: [AnyObject] = errors.compactMap { ($0 as? AllTasksFailed)?.storage }
            errors = []
            Trampoline.free(&nested)
        }
    }
}
