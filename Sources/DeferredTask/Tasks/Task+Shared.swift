internal import DeferredCore

extension Task {
    /// A consumer of this task of its own: cancelling it ends only that consumer, at once.
    ///
    /// For one piece of work that several wait for. Call it once for each of them. This task is cancelled when the last
    /// consumer that has not ended is cancelled; until then, the others go on.
    ///
    /// ```swift
    /// let download = session.beginDataTask(with: url)
    /// let (header, thumbnail) = (download.shared(), download.shared())
    /// header.cancel()     // the download goes on
    /// thumbnail.cancel()  // and stops
    /// ```
    ///
    /// The tasks derived from one consumer are consumers of it in turn: the last that is cancelled cancels it.
    ///
    /// - Returns: A task that ends as this one does, or with `CancellationError` when it is cancelled. Its progress is that
    ///   of this task. One that was dropped, and whose handlers don't wait for the result, counts no longer: if another has
    ///   cancelled and none is left that counts, this task is cancelled.
    public func shared() -> Task {
        storage.isFinished ? self : derive(.immediate, TaskPassing(), .shared)
    }
}

/// Passes the result by.
private struct TaskPassing<Success: Sendable>: TaskTransform {
    typealias NewSuccess = Success

    static func shortcut(_ input: Result<Success, any Error>) -> Result<Success, any Error>? { input }

    func apply(_ input: Result<Success, any Error>) -> Outcome<Result<Success, any Error>> { .value(input) }
}
