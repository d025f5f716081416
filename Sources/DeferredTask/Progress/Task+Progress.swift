public import DeferredCore
public import Foundation

extension Task {
    /// Creates a task that ends when `future` is filled, and takes its progress from a `Progress`.
    ///
    /// Cancelling the task cancels the progress, and the reverse. The progress is followed while somebody watches that of
    /// the task: by observation on Apple platforms, and elsewhere, where `Progress` has none, ten times a second.
    ///
    /// It counts as Foundation says. While it is indeterminate (one of its counts is negative, or both are 0), its
    /// fraction is 0 and its total is not known. Anything done of a total of 0, or more than the total, is all of it.
    /// Being finished doesn't end the task. `isCancellable` and `isPausable` tell user interfaces which buttons to show,
    /// and have no effect on `cancel()`: a progress that is not cancellable is cancelled with its task all the same, as it
    /// is with a parent. A task can't be paused.
    ///
    /// - Parameters:
    ///   - future: See ``init(_:uponCancel:)-4kg0d``.
    ///   - progress: Kept as long as the task. Its `cancellationHandler` is extended, not replaced, by the first task that
    ///     is made with it; any number of tasks may be. Who replaces the handler afterwards cuts these off.
    public init(_ future: some FutureProtocol<Result>, progress: Progress) {
        let foreign = ForeignProgress(progress)
        self.init(future.future.storage, .reporting(foreign), nil)
        if let control { foreign.tie(to: control) }
    }

    /// How far the task is, and all that it was derived from.
    ///
    /// Its `fractionCompleted` is the mean over the stages of the chain, where a stage that reports progress weighs 10
    /// and one that does not weighs 1. It is right whenever it is read, from any thread: what one thread reports while
    /// another writes is written by that one, an instant later. It is 1 when the task has succeeded; a failed task stays
    /// where it was. It never goes back: nobody sees less than somebody has seen before, here, by
    /// ``uponProgress(on:execute:)-(Executor,_)`` or in ``progressUpdates``. Tasks that were combined are weighted by their
    /// bytes once all of them have told how many there are.
    ///
    /// It is indeterminate while all that report only do so without a total, and nothing else is done yet.
    ///
    /// Cancelling it cancels the task, and the reverse: `isCancelled` is that of the task, as soon as `cancel()` returns,
    /// and stays false if the task ended before. It is cancellable, and can't be paused.
    ///
    /// Made when first asked for, and shared while somebody holds it; nothing of it stays when it goes. A chain whose
    /// progress nobody reads makes none.
    public var progress: Progress {
        let state = control?.state
        let new = state?.progress ?? TaskProgress(control, storage)
        let progress = state?.share(new) ?? new
        // The thread that ends the task may not have come to its handlers yet.
        if let result = storage.peek() { progress.end(with: result) } else { progress.update() }
        return progress
    }
}
