internal import DeferredCore

extension Task {
    /// The progress of the task for a `for await` loop: now, after changes, and a last time at the end.
    ///
    /// If the loop is slower than the reports, only the newest is kept. The sequence ends with the task; when a loop is
    /// left, or its task is cancelled, nothing stays registered. The task itself is not cancelled.
    ///
    /// ```swift
    /// for await snapshot in download.progressUpdates {
    ///     print(snapshot)
    /// }
    /// ```
    ///
    /// Each loop over it starts anew. See ``uponProgress(on:execute:)-(Executor,_)`` for what is kept.
    public var progressUpdates: some AsyncSequence<ProgressSnapshot, Never> & Sendable {
        ProgressUpdates(task: self)
    }
}

private struct ProgressUpdates<Success: Sendable>: AsyncSequence, Sendable {
    let task: Task<Success>

    func makeAsyncIterator() -> AsyncStream<ProgressSnapshot>.Iterator {
        let (stream, newest) = AsyncStream.makeStream(of: ProgressSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        // The end is part of the last delivery. A handler of its own could be called first: by the thread that registers
        // it, while another one still runs the older handlers.
        let updates = task.observeProgress(on: .immediate, clock: ContinuousClock()) { snapshot, isLast in
            newest.yield(snapshot)
            if isLast { newest.finish() }
        }
        newest.onTermination = { reason in
            if case .cancelled = reason { updates.cancel() }
        }
        return stream.makeAsyncIterator()
    }
}
