public import DeferredCore
public import Foundation

extension Task {
    /// Creates a task that ends when `future` is filled, and takes its progress from a `Progress`.
    ///
    /// Cancelling the task cancels the progress, and the reverse. The progress is followed while somebody watches that
    /// of the task: by key-value observation on Apple platforms, and elsewhere, where `Progress` has none, ten times a
    /// second.
    ///
    /// The counts have their meaning in Foundation. While the progress is indeterminate (one of its counts is negative,
    /// or both are 0), its fraction is 0 and its total is not known. Anything completed of a total of 0, or more than
    /// the total, counts as all of it. A finished progress doesn't end the task. `isCancellable` and `isPausable` tell
    /// user interfaces which buttons to show, and have no effect on `cancel()`: a progress that is not cancellable is
    /// still cancelled with its task, just as a child is with its parent. A task can't be paused.
    ///
    /// - Parameters:
    ///   - future: See ``init(_:reporter:uponCancel:)-98y7s``.
    ///   - progress: Kept as long as the task. Its `cancellationHandler` is extended, not replaced, by the first task
    ///     that is created with it; any number of tasks may be. Replacing the handler afterwards disconnects these
    ///     tasks.
    public init(_ future: some FutureProtocol<Result>, progress: Progress) {
        let foreign = ForeignProgress(progress)
        self.init(future.future.storage, .reporting(foreign), nil)
        if let handle { foreign.tie(to: handle) }
    }

    /// The progress of the task and all tasks it was derived from.
    ///
    /// Its `fractionCompleted` is the mean over the stages of the chain, where a stage that reports progress weighs 10
    /// and one that does not weighs 1. Plain stages (`map`, `mapError`, `recover`, `always`) that ended before anybody
    /// asked for the progress count as completed if the task that they came from has succeeded. It is 1 when the task has
    /// succeeded; after a failure, it stays where it was when it was last read, and is 0 if it never was. It never
    /// decreases, and no observer that comes later, here, in
    /// ``uponProgress(on:execute:)-(Executor,_)`` or in ``progressUpdates``, starts lower than any was given before.
    /// Combined tasks are weighted by their bytes once all of them have reported how many there are; until then, by
    /// their stages, where those that have not started weigh as much as the others on average.
    ///
    /// It can be read from any thread and is up to date, except that a report, or the end, that arrives while another
    /// thread updates the object is written by that thread, an instant later. For that instant it may be behind what an
    /// observer was given.
    ///
    /// It is indeterminate while every producer that reports does so without a total, and nothing else is completed
    /// yet.
    ///
    /// Cancelling it cancels the task, and the reverse: `isCancelled` is that of the task, as soon as `cancel()`
    /// returns, and stays false if the task ended before. It is cancellable, and can't be paused.
    ///
    /// Created on first use, and shared while somebody holds it; afterwards it is freed entirely. A chain whose
    /// progress is never read creates none.
    public var progress: Progress {
        let node = handle?.node
        let new = node?.object ?? TaskProgress(handle, storage)
        let progress = node?.withLock { $0.share(new) } ?? new
        // The thread that ends the task may not have run its handlers yet.
        if let result = storage.peek() { progress.end(with: result) } else { progress.update() }
        return progress
    }
}
