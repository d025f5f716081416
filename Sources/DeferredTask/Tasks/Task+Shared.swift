internal import DeferredCore

extension Task {
    /// Returns a new consumer of this task: cancelling it ends only that consumer, at once.
    ///
    /// For one piece of work with several consumers. Call it once for each of them. This task is cancelled when the
    /// last consumer that has not ended is cancelled; until then, the others continue.
    ///
    /// ```swift
    /// let download = session.beginDataTask(with: url)
    /// let (header, thumbnail) = (download.shared(), download.shared())
    /// header.cancel()     // the download goes on
    /// thumbnail.cancel()  // and stops
    /// ```
    ///
    /// The tasks derived from one consumer are in turn consumers of it: it is cancelled when the last of them is.
    ///
    /// - Returns: A task that ends as this one does, or with `CancellationError` when it is cancelled. Its progress is
    ///   that of this task. A consumer that was dropped, and whose handlers don't wait for the result, no longer
    ///   counts: if another has cancelled and none is left that counts, this task is cancelled. That is looked at whenever a
    ///   consumer is cancelled or dropped, not when a handler is taken back. As any derived task, it is freed at the end
    ///   of this task, or when it is cancelled.
    public func shared() -> Task {
        guard !storage.isFinished, let handle else { return self }
        return derive(.immediate, TaskPassing(), .shared(handle.future))
    }
}

/// Passes the result on unchanged.
struct TaskPassing<Success: Sendable>: TaskTransform {
    typealias Case = WholeResult<Success>

    func run(_ content: Result<Success, any Error>) -> Outcome<Result<Success, any Error>> { .value(content) }
}
