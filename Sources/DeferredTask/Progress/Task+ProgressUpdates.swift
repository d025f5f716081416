internal import DeferredCore

extension Task {
    /// How far the task is, for a `for await` loop: now, after changes, and a last time at the end.
    ///
    /// If the loop is slower than the reports, the newest wins, and nothing piles up. The sequence ends with the task;
    /// when a loop is left, or its task is cancelled, nothing stays registered. The task itself is not cancelled.
    ///
    /// ```swift
    /// for await snapshot in download.progressUpdates {
    ///     print(snapshot)
    /// }
    /// ```
    ///
    /// Each loop over it starts anew. See ``uponProgress(on:execute:)`` for what is kept.
    public var progressUpdates: some AsyncSequence<ProgressSnapshot, Never> & Sendable {
        ProgressUpdates(task: self)
    }
}

private struct ProgressUpdates<Success: Sendable>: AsyncSequence, Sendable {
    let task: Task<Success>

    func makeAsyncIterator() -> AsyncStream<ProgressSnapshot>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ProgressSnapshot.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let updates = task.uponProgress(on: .immediate) { continuation.yield($0) }
        // Registered later, and so called after the last update.
        let end = task.upon(.immediate) { _ in continuation.finish() }
        continuation.onTermination = { _ in
            updates.cancel()
            end.cancel()
        }
        return stream.makeAsyncIterator()
    }
}
